"""Windows as points: distances of points and of windows, and points block by block."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.views import shape_space
from axonad.views.shape_space import (
    ShapeSpace,
    centred_windows,
    describe,
    hann_root,
    learn_spaces,
)  # fmt: skip
from tests.conftest import waves


def learn(windows: np.ndarray, weights: np.ndarray, most: int) -> ShapeSpace:
    flat = (windows * weights[:, None]).reshape(len(windows), -1)
    return learn_spaces(flat, weights, [np.ones(len(flat), dtype=bool)], most)[0]


def noisy(rows: int) -> np.ndarray:
    return waves(rows, 2) + np.random.default_rng(0).normal(size=(rows, 2))


def test_distances_of_points_are_those_of_windows_or_less():
    windows = centred_windows(noisy(60), 8, np.arange(53))
    for weights in (np.ones(8), hann_root(8)):
        flat = (windows * weights[:, None]).reshape(53, -1)
        exact = np.linalg.norm(flat[:, None] - flat[None], axis=2)
        for most in (3, 16):
            points = learn(windows, weights, most).points(windows)
            found = np.linalg.norm(points[:, None] - points[None], axis=2)
            assert (found <= exact + 1e-6).all()
            assert (most == 3) != np.allclose(found, exact, atol=1e-6)


def test_spaces_of_some_windows_are_those_of_these_windows_alone():
    windows = centred_windows(noisy(60), 8, np.arange(53))
    some = np.arange(53) % 3 > 0
    flat = windows.reshape(53, -1)
    found = learn_spaces(flat, np.ones(8), [some], 4)[0]
    np.testing.assert_allclose(
        found.directions, learn(windows[some], np.ones(8), 4).directions, atol=1e-9
    )


@pytest.mark.parametrize("rows", [80, 700])
@pytest.mark.parametrize("values", [10, 2**21])
def test_points_of_a_series_are_those_of_its_windows(monkeypatch, values, rows):
    """By products and by transforms, in blocks of any size; an offset changes nothing."""
    Z = noisy(rows) + np.array([1.0, 30.0])
    count = rows - 7
    windows = centred_windows(Z, 8, np.arange(count))
    spaces = [learn(windows[:200], w, most) for w, most in ((hann_root(8), 3), (np.ones(8), 5))]
    expected = [space.points(windows) for space in spaces]
    for name in ("BLOCK_VALUES", "TRANSFORM_VALUES", "ROW_VALUES"):
        monkeypatch.setattr(shape_space, name, values)
    some = np.array([0, 5, 6, 72])
    for many in (1, 10**6):
        monkeypatch.setattr(shape_space, "MANY", many)
        found = describe(Z, 8, spaces, [np.arange(count), some])
        np.testing.assert_allclose(found[0], expected[0], atol=1e-9)
        np.testing.assert_allclose(found[1], expected[1][some], atol=1e-9)
        found = describe(Z, 8, spaces[1:], [some])
        np.testing.assert_allclose(found[0], expected[1][some], atol=1e-9)


def test_flat_windows_have_no_direction():
    flat = np.zeros((5, 4, 2))
    space = learn(flat, np.ones(4), 3)
    assert space.directions.shape == (0, 8)
    np.testing.assert_array_equal(space.points(flat), np.zeros((5, 1)))
    found = describe(np.zeros((600, 2)), 4, [space])[0]
    np.testing.assert_array_equal(found, np.zeros((597, 1)))
