"""The table of detectors: names, classes, summaries and parity parameters."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from axonad.errors import UnknownNameError
from axonad.registry import REGISTRY, detector_class, list_detectors, make_detector


@pytest.mark.parametrize("entry", REGISTRY, ids=lambda entry: entry.name)
def test_an_entry_names_its_class_and_says_what_it_measures(entry):
    cls = detector_class(entry.name)
    assert cls.__name__ == entry.name
    assert entry.path == f"{cls.__module__}:{entry.name}"
    assert entry.summary
    assert entry.learns_from in ("prefix", "series")


def test_parity_parameters_are_fields():
    for entry in list_detectors():
        cls = detector_class(entry.name)
        assert isinstance(cls.parity, Mapping)
        assert set(cls.parity) <= set(cls().get_params()), entry.name


def test_an_unknown_name_is_refused_with_a_suggestion():
    with pytest.raises(UnknownNameError, match="no detector 'KN'; did you mean 'KNN'"):
        make_detector("KN")
