"""A missing scikit-learn."""

from __future__ import annotations

import sys

import pytest

from axonad import make_detector
from axonad.errors import MissingDependencyError
from tests.conftest import waves

NEED_SKLEARN = ("KMeansAD", "CBLOF", "IForest", "KNN", "LOF", "WindowStatistics")


@pytest.mark.parametrize("name", NEED_SKLEARN)
def test_a_missing_scikit_learn_says_what_to_install(name, monkeypatch):
    for module in ("cluster", "tree", "neighbors", "utils.random"):
        monkeypatch.setitem(sys.modules, f"sklearn.{module}", None)
    with pytest.raises(
        MissingDependencyError,
        match=rf"{name} needs scikit-learn; .* pip install 'axonad\[baselines\]'",
    ):
        make_detector(name).fit(waves(300))
