"""RobustPCA against principal component pursuit as the paper writes it."""

from __future__ import annotations

import numpy as np
from sklearn import decomposition

from axonad import make_detector
from axonad.baselines.robust_pca import RobustPCA
from tests.conftest import waves


def naive_pursuit(D, rounds):
    """Principal component pursuit with L, S and the dual Y, and a full SVD per iteration."""
    S, Y = np.zeros_like(D), np.zeros_like(D)
    mu, lam = D.size / (4 * np.abs(D).sum(axis=0).max()), 1 / np.sqrt(max(D.shape))
    for _ in range(rounds):
        u, s, v = np.linalg.svd(D - S + Y / mu, full_matrices=False)
        L = u @ np.diag(np.maximum(s - 1 / mu, 0)) @ v
        rest = D - L + Y / mu
        S = np.sign(rest) * np.maximum(np.abs(rest) - lam / mu, 0)
        Y = Y + mu * (D - L - S)
        if np.linalg.norm(D - L - S) <= 1e-7 * np.linalg.norm(D):
            break
    return L


def test_robust_pca_is_principal_component_pursuit():
    X = waves(80, channels=5)
    X[10, 2] += 5
    L = naive_pursuit(X, rounds=60)
    model = decomposition.PCA(5, svd_solver="full").fit(L)
    expected = np.abs(L - model.transform(L)).sum(axis=1)
    detector = make_detector("RobustPCA", rounds=60).fit(X)
    np.testing.assert_allclose(detector.decision_scores_, expected, rtol=1e-6)
    np.testing.assert_allclose(detector.decision_function(X[::-1])[::-1], expected, rtol=1e-6)


def test_robust_pca_sends_new_rows_through_the_same_rounds():
    X = waves(400)
    whole, sampled = RobustPCA(rounds=80).fit(X), RobustPCA(rounds=80, max_train=399).fit(X)
    np.testing.assert_allclose(
        sampled.decision_scores_, whole.decision_scores_, rtol=0.05, atol=0.05
    )
