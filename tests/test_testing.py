from __future__ import annotations

import numpy as np
import pytest

from axonad import make_detector
from axonad.baselines.pca import PCA
from axonad.testing import CHECKS, CheckError, example, run_checks
from axonad.threshold import Event


def make(**changes):
    """Return a PCA detector with some methods replaced."""
    return type("Broken", (PCA,), changes)(window=1)


def broken_scores(function):
    return {"decision_function": lambda self, X: function(PCA.decision_function(self, X))}


def test_a_sound_detector_passes_all_checks():
    run_checks(lambda: make_detector("PCA", window=1))


@pytest.mark.parametrize(
    ("check", "changes", "message"),
    [
        (
            "scores_are_finite_one_per_row",
            broken_scores(lambda s: s[1:]),
            r"shape \(399,\) for 400",
        ),
        ("scores_are_finite_one_per_row", broken_scores(np.float32), "float32, not float64"),
        (
            "scores_are_finite_one_per_row",
            broken_scores(lambda s: s * np.inf),
            "scores are not finite",
        ),
        ("planted_anomaly_stands_out", broken_scores(np.negative), "planted anomaly"),
        ("predict_is_the_threshold", {"predict": lambda self, X: np.full(len(X), 2)}, "0 and 1"),
        (
            "predict_is_the_threshold",
            {"predict": lambda self, X: np.ones(len(X))},
            "predict differs",
        ),
        ("bad_input_is_refused", {"fit": lambda self, X, y=None: self}, "fit accepted unusable"),
        (
            "constant_channel_is_fine",
            {"events": lambda self, X, top: [Event(0, 1, 0, 1.0, channels=("1",))]},
            "never moved was blamed",
        ),
        ("unfitted_is_refused", broken_scores(abs) | {"predict": lambda self, X: X}, "unfitted"),
    ],
)
def test_a_broken_detector_fails_the_check(check, changes, message):
    with pytest.raises(CheckError, match=message):
        CHECKS[check](lambda: make(**changes))


def test_the_example_is_reproducible():
    np.testing.assert_array_equal(example(50, 2, seed=1), example(50, 2, seed=1))
    assert example(50, 2).shape == (50, 2)
