"""Isolation trees as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.baselines._forest import Trees, expected_path


def test_a_row_descends_to_its_leaf_in_every_tree():
    trees = Trees(
        roots=np.array([0, 2, -4]),  # a tree of two inner nodes, one of a single, a leaf alone
        children=np.array([[-1, 1], [-2, -3], [-1, -3]]),
        paths=np.array([1.0, 2.5, 3.0, 10.0]),
    )
    limits = np.array([0.0, 5.0, 2.0])
    x = np.array([-1.0, 1.0, 7.0])
    found = trees.mean_path(3, lambda rows, nodes: x[rows] > limits[nodes])
    by_hand = [(1.0 + 1.0 + 10) / 3, (2.5 + 1.0 + 10) / 3, (3.0 + 3.0 + 10) / 3]
    np.testing.assert_allclose(found, by_hand)


def test_the_expected_path_is_that_of_a_failed_search():
    assert expected_path(1) == 0
    for size in (50, 300):
        harmonic = sum(1 / i for i in range(1, size))
        exact = 2 * harmonic - 2 * (size - 1) / size
        assert float(expected_path(size)) == pytest.approx(exact, abs=1.1 / size)
