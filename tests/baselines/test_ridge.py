"""CrossChannelRidge against separate regressions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from axonad import make_detector
from axonad.stream import Session
from tests.baselines.detectors import fit_and_score, noise
from tests.conftest import waves


def test_ridge_finds_broken_coordination_that_stays_in_range():
    rng = np.random.default_rng(0)
    speed = np.cumsum(rng.normal(size=3000)) / 10
    X = np.column_stack([speed, 2 * speed + 3, -speed]) + 0.05 * rng.normal(size=(3000, 3))
    train, Y = X[:2000], X[2000:].copy()
    Y[500:520, 1] = 2 * Y[500:520, 0] + 3 + 1.5  # well within what the channel has done before
    assert Y[500:520, 1].max() < train[:, 1].max()
    detector = make_detector("CrossChannelRidge").fit(train)
    scores = detector.decision_function(Y)
    assert scores[500:520].min() > np.delete(scores, range(500, 520)).max()
    event = max(detector.events(Y), key=lambda event: event.score)
    assert (event.start, event.end) == (500, 520)
    assert event.channels[0] == "1"


def test_ridge_residuals_are_those_of_separate_regressions():
    X = waves(300, channels=4)
    detector = make_detector("CrossChannelRidge", penalty=0.05).fit(X)
    z = (X - detector._scaler.center) / detector._scaler.unit
    left = z @ detector._map
    for j in range(4):
        others = np.delete(z, j, axis=1)
        model = Ridge(alpha=0.05 * len(z), fit_intercept=False).fit(others, z[:, j])
        np.testing.assert_allclose(left[:, j], z[:, j] - model.predict(others), atol=1e-9)


def test_ridge_of_one_channel_is_the_deviation_from_its_mean():
    X = noise(200, 1)
    scores = fit_and_score("CrossChannelRidge", X)
    order = np.argsort(np.abs(X[:, 0] - np.median(X[:, 0])))
    assert (np.diff(scores[order]) >= -1e-9).all()


@pytest.mark.parametrize("align", ["center", "end"])
def test_ridge_smoothed_over_rows_equals_its_naive_twin(align):
    X, Y = waves(300), waves(120, seed=1)
    plain = make_detector("CrossChannelRidge").fit(X)
    far = plain.explain(Y).blame
    smooth = make_detector("CrossChannelRidge", smooth=7, align=align).fit(X)
    expected = [np.sqrt((far[i : i + 7] ** 2).mean(axis=0)).max() for i in range(len(Y) - 6)]
    found = smooth.decision_function(Y)
    first = 3 if align == "center" else 6
    np.testing.assert_allclose(found[first : first + len(expected)], expected, rtol=1e-9)
    session = Session(smooth)
    live = np.array([session.push(row).scores[0] for row in Y])
    np.testing.assert_allclose(live[np.isfinite(live)], expected, rtol=1e-9)
