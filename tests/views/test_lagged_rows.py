"""Moments of lagged rows and maps of them, against the lagged rows themselves."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.views import lagged_rows


@pytest.mark.parametrize(("lags", "start", "stop"), [(0, 0, 50), (1, 1, 2), (4, 4, 50), (4, 9, 31)])
def test_moments_and_maps_are_those_of_joined_rows(lags, start, stop, monkeypatch):
    monkeypatch.setattr(lagged_rows, "BLOCK", 7)
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(50, 3)), rng.normal(size=(lags + 1, 3, 2))
    joined = np.array([X[t - lags : t + 1][::-1].ravel() for t in range(start, stop)])
    moments = lagged_rows.LaggedMoments.of(lambda a, b: X[a:b], [(start, stop)], lags=lags).whole()
    np.testing.assert_allclose(moments, joined.T @ joined, atol=1e-12)
    found = lagged_rows.apply_lagged(X[start - lags : stop], weights)
    np.testing.assert_allclose(found, joined @ weights.reshape(-1, 2), atol=1e-12)
