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
from axonad.views.shape_search import half_squares, nearest, nearest_torch
from tests.conftest import waves


def test_the_nearest_point_is_found_across_blocks(monkeypatch):
    monkeypatch.setattr(shape_search, "QUERIES", 7)
    monkeypatch.setattr(shape_search, "CELLS", 80)  # 11 references
    rng = np.random.default_rng(0)
    points, references = rng.normal(size=(30, 3)), rng.normal(size=(50, 3))
    references[40] = points[4]
    distances, index = nearest(points, references, half_squares(references))
    exact = np.linalg.norm(points[:, None] - references[None], axis=2)
    np.testing.assert_array_equal(index, exact.argmin(axis=1))
    np.testing.assert_allclose(distances, exact.min(axis=1), atol=1e-12)
    assert distances[4] == 0


def test_torch_finds_the_same_points(monkeypatch):
    monkeypatch.setattr(shape_search, "GPU_CELLS", 350)  # 7 points at a time
    rng = np.random.default_rng(1)
    points, references = rng.normal(size=(30, 5)), rng.normal(size=(50, 5))
    halves = half_squares(references)
    found = nearest_torch(points, references, halves, device=torch.device("cpu"))
    np.testing.assert_array_equal(found, nearest(points, references, halves)[1])


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
    rough = (values - half_squares(references).astype(np.float32)).argmax(axis=1)
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
    expected = nearest(point[None], references, half_squares(references))[0][0]
    assert Lookup(references).distance(point) == expected
