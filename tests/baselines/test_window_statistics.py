"""WindowStatistics against naive statistics."""

from __future__ import annotations

import numpy as np

from axonad import make_detector
from axonad.baselines.window_statistics import window_statistics
from tests.baselines.detectors import noise
from tests.conftest import waves


def test_window_statistics_are_those_of_each_window():
    X = noise(60, 2)
    for length in (2, 7, 16, 21):
        found = window_statistics(X, length)
        for i in range(60 - length + 1):
            part = X[i : i + length]
            low, high = part.min(0), part.max(0)
            expected = np.concatenate([part.mean(0), part.std(0), high, low, high - low])
            np.testing.assert_allclose(found[i], expected, atol=1e-6)


def test_window_statistics_finds_a_stretch_gone_quiet():
    X, Y = waves(2000), waves(800, seed=1)
    Y[400:480] = Y[400]  # every value normal, nothing moves
    detector = make_detector("WindowStatistics", lengths=(16, 64)).fit(X)
    scores = detector.decision_function(Y)
    assert scores[420:460].min() > np.delete(scores, range(330, 550)).max()
    assert detector.labels_.mean() < 0.01
