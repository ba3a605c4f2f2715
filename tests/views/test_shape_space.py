"""Windows as points: distances of points and of windows, and points block by block."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.views import shape_space
from axonad.views.shape_space import ShapeSpace, centred_windows, describe, hann_root
from tests.conftest import waves


def test_distances_of_points_are_those_of_windows_or_less():
    Z = waves(60, 2) + np.random.default_rng(0).normal(size=(60, 2))
    windows = centred_windows(Z, 8, np.arange(53))
    for weights in (np.ones(8), hann_root(8)):
        flat = (windows * weights).reshape(53, -1)
        exact = np.linalg.norm(flat[:, None] - flat[None], axis=2)
        for most in (3, 16):
            points = ShapeSpace.learn(windows, weights, most).points(windows)
            found = np.linalg.norm(points[:, None] - points[None], axis=2)
            assert (found <= exact + 1e-6).all()
            assert (most == 3) != np.allclose(found, exact, atol=1e-6)


@pytest.mark.parametrize("values", [10, 400_000])
def test_points_are_the_same_in_blocks_of_any_size(monkeypatch, values):
    Z = waves(80, 2)
    space = ShapeSpace.learn(centred_windows(Z, 8, np.arange(73)), hann_root(8), 3)
    expected = space.points(centred_windows(Z, 8, np.arange(73)))
    monkeypatch.setattr(shape_space, "BLOCK_VALUES", values)
    some = np.array([0, 5, 6, 72])
    found = describe(Z, 8, [space, space], [np.arange(73), some])
    np.testing.assert_allclose(found[0], expected, atol=1e-9)
    np.testing.assert_allclose(found[1], expected[some], atol=1e-9)


def test_flat_windows_have_no_direction():
    flat = np.zeros((5, 2, 4))
    space = ShapeSpace.learn(flat, np.ones(4), 3)
    assert space.directions.shape == (0, 8)
    np.testing.assert_array_equal(space.points(flat), np.zeros((5, 1)))
