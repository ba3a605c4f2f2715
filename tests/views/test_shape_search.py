"""The search for the nearest point: many at once, by NumPy and by torch, and one at a time."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from axonad import make_detector
from axonad.errors import ConfigError
from axonad.views import shape_search
from axonad.views.shape_lookup import Lookup
from axonad.views.shape_search import Cells
from tests.conftest import waves
from tests.views.naive_shape import cells_of, distance_in


def naive(points, references):
    """Distances to the nearest reference found, cell by cell."""
    cells = cells_of(list(references), shape_search.CELL)
    return np.array([distance_in(cells, point, shape_search.NEAR) for point in points])


@pytest.mark.parametrize(("cell", "near"), [(7, 3), (7, 1), (50, 8), (7, 8)])
@pytest.mark.parametrize("rows", [1, 512])
def test_the_cells_around_a_point_are_searched(monkeypatch, cell, near, rows):
    monkeypatch.setattr(shape_search, "CELL", cell)
    monkeypatch.setattr(shape_search, "NEAR", near)
    monkeypatch.setattr(shape_search, "ROWS", rows)
    rng = np.random.default_rng(0)
    points, references = rng.normal(size=(30, 3)), rng.normal(size=(50, 3))
    references[40] = points[4]
    memory = Cells.divide(references)
    assert np.diff(memory.bounds).max() <= cell
    distances, index = memory.nearest(points)
    np.testing.assert_allclose(distances, naive(points, references), atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(points - memory.points[index], axis=1), distances, atol=1e-12
    )
    assert distances[4] == 0 or near == 1
    one_by_one = [memory.distance(point) for point in points]
    np.testing.assert_allclose(one_by_one, distances, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(memory.distances(points[:9]), distances[:9], rtol=1e-12)
    found = memory.search_torch(memory.queries(points), torch.device("cpu"))
    np.testing.assert_array_equal(found, index)


def test_few_references_and_those_of_older_models_are_all_compared(monkeypatch):
    rng = np.random.default_rng(1)
    points, references = rng.normal(size=(30, 5)), rng.normal(size=(2000, 5))
    exact = np.linalg.norm(points[:, None] - references[None], axis=2).min(axis=1)
    for memory in (Cells.divide(references), Cells.undivided(references)):
        np.testing.assert_allclose(memory.nearest(points)[0], exact, atol=1e-12)
        np.testing.assert_allclose(memory.distances(points[:1]), exact[:1], atol=1e-12)
    monkeypatch.setattr(shape_search, "GPU_VALUES", 7 * 2000)  # 7 points at a time
    memory = Cells.undivided(references)
    found = memory.search_torch(memory.queries(points), torch.device("cpu"))
    np.testing.assert_array_equal(found, memory.nearest(points)[1])


def test_of_many_equal_references_some_are_kept():
    rng = np.random.default_rng(2)
    references = np.concatenate([np.zeros((5000, 3)), rng.normal(size=(100, 3))])
    memory = Cells.divide(rng.permutation(references))
    assert len(memory.points) < 1000
    points = rng.normal(size=(20, 3))
    exact = np.linalg.norm(points[:, None] - references[None], axis=2).min(axis=1)
    np.testing.assert_allclose(memory.nearest(points)[0], exact, atol=1e-12)


def test_cells_whose_centres_are_equally_near_are_all_searched(monkeypatch):
    """Rounding, which differs from one point at a time to many, must not decide between them."""
    monkeypatch.setattr(shape_search, "CELL", 2)
    monkeypatch.setattr(shape_search, "NEAR", 1)
    near = np.array([[0.1, 0.3], [0.1, -0.3]])  # both pairs are centred at (+-0.1, 0)
    far = np.array([[-0.1, 0.2], [-0.1, -0.2]])
    memory = Cells.divide(np.concatenate([near, far]))
    assert memory.distance(np.zeros(2)) == pytest.approx(0.05**0.5)
    many = memory.nearest(np.zeros((50, 2)))[0]
    np.testing.assert_allclose(many, 0.05**0.5)


@pytest.mark.gpu
def test_a_gpu_gives_the_scores_of_the_cpu():
    X, Y = waves(600, 4), waves(300, 4, seed=1)
    on_cpu = make_detector("ShapeMemory").fit(X)
    on_gpu = make_detector("ShapeMemory", device="cuda").fit(X)
    np.testing.assert_allclose(on_gpu.decision_scores_, on_cpu.decision_scores_, rtol=1e-9)
    np.testing.assert_allclose(on_gpu.decision_function(Y), on_cpu.decision_function(Y), rtol=1e-9)
    expected, found = on_cpu.explain(Y).blame, on_gpu.explain(Y).blame
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_an_unknown_device_is_refused():
    with pytest.raises(ConfigError, match="device must be 'auto', 'cpu', 'cuda' or 'mps', got 'x'"):
        make_detector("ShapeMemory", device="x").fit(waves(100))


def test_the_cpu_needs_no_torch():
    """In a process of its own: here torch is imported already."""
    code = """
import sys
sys.modules["torch"] = None  # importing it fails
import numpy as np
from axonad.views.shape import ShapeMemory
X = np.random.default_rng(0).normal(size=(300, 2))
detector = ShapeMemory(lengths=(8,)).fit(X)
assert detector.explain(X).blame.shape == X.shape
detector.live_windows().load(0, X[:8])
"""
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603


@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])
def test_a_lookup_is_exact_where_single_precision_is_not(size):
    """Far from the origin, single precision cannot tell the nearest references apart."""
    rng = np.random.default_rng(2)
    references = size * (100 + rng.normal(size=(2000, 6)) * 0.01)
    points = size * (100 + rng.normal(size=(50, 6)) * 0.01)
    exact = np.linalg.norm(points[:, None] - references[None], axis=2)
    lookup = Lookup(references)
    found = [lookup.distance(point) for point in points]
    np.testing.assert_allclose(found, exact.min(axis=1), rtol=1e-12)
    values = points.astype(np.float32) @ references.astype(np.float32).T
    halves = 0.5 * np.square(references).sum(axis=1)
    rough = (values - halves.astype(np.float32)).argmax(axis=1)
    assert (rough != exact.argmin(axis=1)).any()  # what the test is about


@pytest.mark.parametrize("equal", [3, 900])
def test_a_lookup_among_equal_references(equal):
    rng = np.random.default_rng(3)
    references = rng.normal(size=(1000, 4))
    references[:equal] = references[0]
    point = references[0] + [0.1, 0.0, 0.0, 0.0]
    expected = np.linalg.norm(references - point, axis=1).min()
    assert Lookup(references).distance(point) == pytest.approx(expected, rel=1e-12)
    assert Lookup(references).distance(references[0]) == 0


def test_a_lookup_beyond_single_precision_is_that_of_many_points():
    references = np.array([[1e30, 0.0], [-3e38, 1e38], [2e38, 0.0]])
    point = np.array([1.5e38, 1.0])
    expected = Cells.undivided(references).nearest(point[None])[0][0]
    assert Lookup(references).distance(point) == expected
