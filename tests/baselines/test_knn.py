"""KNN against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from axonad import make_detector
from tests.baselines.detectors import fit_and_score, noise
from tests.baselines.naive import own_units


@pytest.mark.parametrize(
    ("method", "pick"), [("mean", np.mean), ("median", np.median), ("largest", np.max)]
)
def test_knn_is_brute_force(method, pick):
    X, Y = noise(), noise(30, seed=1)
    z, new = own_units(X), own_units(Y)
    far = np.sort(np.linalg.norm(new[:, None] - z[None], axis=2), axis=1)[:, :6]
    scores = fit_and_score("KNN", X, Y, neighbours=6, method=method)
    np.testing.assert_allclose(scores, pick(far, axis=1))


def test_knn_never_counts_a_row_as_its_own_neighbour():
    X = noise()
    z = own_units(X)
    far = np.sort(np.linalg.norm(z[:, None] - z[None], axis=2), axis=1)[:, 1:7]
    detector = make_detector("KNN", neighbours=6).fit(X)
    np.testing.assert_allclose(detector.decision_function(X), far.mean(axis=1), atol=1e-7)
    np.testing.assert_array_equal(detector.decision_function(X), detector.decision_scores_)
    later = detector.decision_function(np.vstack([X, X[:1]]))  # another array: all rows are new
    assert later[0] < detector.decision_scores_[0]
    assert later[0] == pytest.approx(later[-1])


def test_copies_of_a_row_are_its_neighbours():
    X = np.repeat(noise(10), 12, axis=0)
    np.testing.assert_allclose(fit_and_score("KNN", X, neighbours=5), 0, atol=1e-7)


def test_a_sampled_neighbour_search_leaves_out_the_row_itself():
    X = noise(300)
    kept = make_detector("KNN", neighbours=5, max_train=100).fit(X)
    assert kept._reference.shape == (100, 4)
    assert (kept.decision_scores_ > 1e-6).all()
