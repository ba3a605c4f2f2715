"""ControlChart detects small lasting shifts."""

from __future__ import annotations

import numpy as np

from axonad import make_detector
from tests.baselines.detectors import fit_and_score


def test_control_chart_sees_a_small_shift_that_no_single_row_shows():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2000, 3)), rng.normal(size=(600, 3))
    Y[300:] += 1.0
    slow = make_detector("ControlChart", memory=0.9).fit(X)
    scores = slow.decision_function(Y)
    assert np.median(scores[370:]) > np.quantile(scores[:300], 0.99)
    alone = fit_and_score("ControlChart", X, Y, memory=0.0)
    assert np.median(alone[370:]) < np.quantile(alone[:300], 0.99)
    moved = rng.normal(size=(600, 3))
    moved[300:, 1] += 3
    strongest = max(slow.events(moved, gap=50), key=lambda event: event.score)
    assert strongest.channels[0] == "1"
