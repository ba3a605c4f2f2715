from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.metrics import extend_labels

from . import naive
from .naive import labelled, windows


@settings(max_examples=100, deadline=None)
@given(labelled(), windows)
def test_extended_labels_equal_the_naive_twin(case, window):
    labels = case[1]
    assert extend_labels(labels, window) == pytest.approx(naive.extend_labels(labels, window))


@settings(max_examples=100, deadline=None)
@given(labelled(largest=60), st.integers(0, 40))
def test_more_window_never_lowers_the_extended_label(case, window):
    labels = case[1]
    assert (extend_labels(labels, window + 1) >= extend_labels(labels, window)).all()
