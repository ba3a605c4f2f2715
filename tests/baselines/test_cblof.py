"""CBLOF's large and small clusters."""

from __future__ import annotations

import numpy as np

from tests.baselines.detectors import fit_and_score


def test_cblof_sends_a_small_clusters_rows_to_the_nearest_large_one():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.01, size=(n, 2)) for c, n in ((0, 60), (1, 50), (5, 4))])
    scores = fit_and_score("CBLOF", X, units="raw", clusters=3, alpha=0.9)
    np.testing.assert_allclose(scores[-4:], np.linalg.norm(X[-4:] - X[60:110].mean(0), axis=1))
    assert scores[:110].max() < 0.1
