"""Centres and distances of k-means."""

from __future__ import annotations

import numpy as np

from axonad.baselines._kmeans import distances, find_centers


def test_far_groups_become_clusters_of_their_sizes():
    rng = np.random.default_rng(0)
    groups = [rng.normal(c, 0.01, size=(n, 2)) for c, n in ((0, 30), (5, 20), (9, 10))]
    centers, sizes = find_centers(np.vstack(groups), clusters=3, seed=1, user="test")
    order = centers[:, 0].argsort()
    assert sizes[order].tolist() == [30, 20, 10]
    np.testing.assert_allclose(centers[order], [group.mean(0) for group in groups])


def test_empty_clusters_are_left_out():
    windows = np.repeat([[0.0, 0.0], [4.0, 0.0]], 5, axis=0)
    centers, sizes = find_centers(windows, clusters=4, seed=1, user="test")
    assert sorted(map(tuple, centers.round(9))) == [(0, 0), (4, 0)]
    assert sizes.tolist() == [5, 5]
    alone, _ = find_centers(windows[:1], clusters=4, seed=1, user="test")
    assert len(alone) == 1


def test_distances_by_hand():
    found = distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 0.0]]))
    np.testing.assert_allclose(found, [[0, 3], [5, 4]])
