"""The base of KNN and LOF."""

from __future__ import annotations

import numpy as np
import pytest

import axonad
from axonad import make_detector
from tests.baselines.detectors import noise


@pytest.mark.parametrize("name", ["KNN", "LOF"])
def test_the_fitted_array_is_recognised_after_loading(name, tmp_path):
    X = noise()
    detector = make_detector(name, neighbours=5).fit(X)
    detector.save(tmp_path / "m")
    scores = axonad.load(tmp_path / "m").decision_function(X)
    np.testing.assert_array_equal(scores, detector.decision_scores_)
