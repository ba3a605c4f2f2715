"""PCA against scikit-learn's."""

from __future__ import annotations

import numpy as np
from sklearn import decomposition

from axonad import make_detector
from axonad.baselines.pca import PCA
from tests.baselines.detectors import fit_and_score, noise
from tests.baselines.naive import naive_windows, own_units


def test_pca_is_the_distance_to_the_tips_of_the_leading_directions():
    X, Y = noise(300, 5), noise(40, 5, seed=1)
    z = (X - X.mean(0)) / X.std(0)
    new = (Y - X.mean(0)) / X.std(0)
    model = decomposition.PCA(0.6, svd_solver="full").fit(z)
    expected = [
        sum(
            np.linalg.norm(row - tip) / share
            for tip, share in zip(model.components_, model.explained_variance_ratio_, strict=True)
        )
        for row in new
    ]
    assert len(model.components_) > 1
    np.testing.assert_allclose(fit_and_score("PCA", X, Y, directions=0.6), expected)


def test_pca_gives_the_same_for_few_windows_and_for_many():
    X = noise(60, 3)
    few = make_detector("PCA", window=25, directions=3).fit(X)  # 36 windows of 75 values
    z = naive_windows(X, 25)
    z = (z - z.mean(0)) / z.std(0)
    model = decomposition.PCA(3, svd_solver="full").fit(z)
    np.testing.assert_allclose(few._axes, model.components_, atol=1e-8)


def test_pca_leaves_out_what_never_moved():
    X = noise(100, 3)
    still = np.column_stack([X, np.full(100, 0.1)])
    np.testing.assert_allclose(fit_and_score("PCA", still), fit_and_score("PCA", X))


def test_pca_under_parity_scores_windows_in_their_own_units_and_then_by_training_statistics():
    X = noise(160, 3)
    own = own_units(naive_windows(X, 100))  # 61 windows of 300 values
    z = (own - own.mean(0)) / own.std(0)
    model = decomposition.PCA(0.25, svd_solver="full").fit(z)
    tips = zip(model.components_, model.explained_variance_ratio_, strict=True)
    ends = sum(np.linalg.norm(z - tip, axis=1) / share for tip, share in tips)
    expected = [ends[0]] * 50 + list(ends) + [ends[-1]] * 49
    np.testing.assert_allclose(fit_and_score("PCA", X, **PCA.parity), expected, rtol=1e-6)
