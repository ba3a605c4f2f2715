"""Residuals of many regressions from one inverse, against one regression at a time."""

from __future__ import annotations

import numpy as np

from axonad.score.residual_map import residual_map, residual_map_without


def naive(z, j, inputs, penalty):
    """Return what a ridge regression of value j on some inputs leaves."""
    left = z[:, inputs]
    among = left.T @ left / len(z) + penalty * np.eye(len(inputs))
    return z[:, j] - left @ np.linalg.solve(among, left.T @ z[:, j] / len(z))


def test_residuals_are_those_of_separate_regressions():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(40, 6)) @ rng.normal(size=(6, 6))
    moments = z.T @ z / len(z)
    found = z @ residual_map(moments, penalty=0.1)
    for j in range(6):
        expected = naive(z, j, np.delete(np.arange(6), j), 0.1)
        np.testing.assert_allclose(found[:, j], expected, atol=1e-10)
    unused = np.array([[2, 4], [3, 5]])
    found = z @ residual_map_without(moments, penalty=0.1, unused=unused)
    for j in range(2):
        expected = naive(z, j, np.delete(np.arange(6), [j, *unused[j]]), 0.1)
        np.testing.assert_allclose(found[:, j], expected, atol=1e-10)
