from __future__ import annotations

import numpy as np
import pytest

from axonad.score.restoring import restore_scale, restore_scaler

ARRAYS = {
    "scaler.center": np.zeros(2), "scaler.unit": np.ones(2), "bad": np.array([1.0, 0.0]),
    "x.median": np.zeros(2), "x.spread": np.zeros(2), "y.median": np.zeros(2),
    "y.spread": np.array([0.0, -1.0]),
}  # fmt: skip


def test_scales_are_restored():
    scaler = restore_scaler("train", ARRAYS, channels=2)
    assert (scaler.rule, scaler.unit.tolist()) == ("train", [1.0, 1.0])
    assert restore_scale(ARRAYS, "x", 2).spread.tolist() == [0.0, 0.0]


def test_scales_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="'bad' must be above 0"):
        restore_scaler("train", ARRAYS, "scaler.center", "bad", channels=2)
    with pytest.raises(ValueError, match=r"has shape \(2,\); expected \(3\)"):
        restore_scaler("train", ARRAYS, channels=3)
    with pytest.raises(ValueError, match=r"'y\.spread' must be at least 0"):
        restore_scale(ARRAYS, "y", 2)
