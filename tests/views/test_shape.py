"""ShapeMemory against its naive twin, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load, save

import axonad
from axonad import Session, make_detector
from axonad.errors import ConfigError, InputError, ModelFileError
from axonad.views import shape_part, shape_search
from tests.conftest import waves
from tests.fuzz.forging import forge_arrays
from tests.views import naive_shape


@pytest.mark.parametrize(
    ("align", "max_train", "compared", "cell"),
    [("center", 1000, 1000, 100), ("end", 17, 1000, 5), ("end", 40, 23, 100), ("end", 99, 99, 9)],
)
def test_scores_are_those_of_plain_loops(align, max_train, compared, cell, monkeypatch):
    monkeypatch.setattr(shape_part, "COMPARED", compared)
    monkeypatch.setattr(shape_search, "CELL", cell)
    monkeypatch.setattr(shape_search, "NEAR", 3)
    rng = np.random.default_rng(3)
    X = waves(90, 2) + 0.3 * rng.normal(size=(90, 2))
    Y = waves(60, 2, seed=1) + 0.3 * rng.normal(size=(60, 2))
    params = {"lengths": (7, 12), "directions": 5, "max_train": max_train, "align": align}
    detector = make_detector("ShapeMemory", **params).fit(X)
    train, test = naive_shape.shape_memory(X, Y, **params, compared=compared, cell=cell, near=3)
    np.testing.assert_allclose(detector.decision_scores_, train, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(detector.decision_function(Y), test, rtol=1e-4, atol=1e-5)


def test_a_stream_gives_the_scores_placed_at_the_end():
    detector = make_detector("ShapeMemory", lengths=(9, 16, 30), align="end").fit(waves(300))
    Y = waves(70, seed=1)
    session = Session(detector)
    live = [session.push(row).scores[0] for row in Y]
    np.testing.assert_allclose(live[29:], detector.decision_function(Y)[29:], rtol=1e-6, atol=1e-6)


def test_each_length_is_placed_at_its_own_centre():
    X, Y = waves(600), waves(300, seed=1)
    Y[150] += 4.0
    detector = make_detector("ShapeMemory", lengths=(11, 61)).fit(X)
    high = np.flatnonzero(detector.decision_function(Y) > 0.9)
    assert abs(high.mean() - 150) < 1
    assert high.min() >= 120
    assert high.max() <= 180


def test_an_offset_is_normal_and_another_shape_is_not():
    X, Y = waves(1500), waves(900, seed=1)
    Y[200:400] += 0.3
    Y[600:640] = Y[600]
    detector = make_detector("ShapeMemory").fit(X)
    scores = detector.decision_function(Y)
    still = scores[605:635].min()
    assert scores[270:330].max() < 0.5 * still
    assert scores[:120].max() < 0.5 * still
    assert scores[700:].max() < 0.5 * still


def test_new_normal_data_score_like_held_out_training_data():
    """Directions learned from the windows that are compared would part the two."""
    draw = (np.random.default_rng(seed).normal(size=(1500, 8)) for seed in range(2))
    detector = make_detector("ShapeMemory", lengths=(32,)).fit(next(draw))
    new = detector.decision_function(next(draw))
    share = (new > np.quantile(detector.decision_scores_, 0.9)).mean()
    assert 0.03 < share < 0.25


def test_blame_is_the_score_shared_among_channels():
    X, Y = waves(800, 4), waves(400, 4, seed=1)
    X[:, 3] = Y[:, 3] = 1.0
    Y[200:230, 1] = Y[230:200:-1, 1].copy()
    detector = make_detector("ShapeMemory", contamination=1e-3).fit(X)
    found = detector.explain(Y)
    np.testing.assert_allclose(found.scores, detector.decision_function(Y))
    assert found.blame is not None
    assert (found.blame[:, 3] == -np.inf).all()
    np.testing.assert_allclose(found.blame[:, :3].sum(axis=1), found.scores, atol=1e-6)
    assert set(found.blame[200:230].argmax(axis=1)) == {1}


def test_a_short_series_has_one_short_length_and_a_shorter_one_is_refused():
    detector = make_detector("ShapeMemory", threshold="quantile", contamination=0.1)
    assert detector.fit(waves(400)).lengths_ == (44, 64, 66, 128)
    assert detector.fit(waves(40)).lengths_ == (9,)
    with pytest.raises(InputError, match="X needs at least 37 rows"):
        detector.fit(waves(36))
    assert detector.lengths_ == (9,)  # a refused fit changes nothing


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"lengths": 16}, "lengths must be a tuple of integers, got 16"),
        ({"lengths": (1,)}, "lengths must be at least 2, got 1"),
        ({"directions": 0}, "directions must be at least 1, got 0"),
        ({"max_train": 1}, "max_train must be at least 2, got 1"),
        ({"align": "start"}, "align must be one of 'center', 'end', got 'start'"),
    ],
)
def test_invalid_parameters_are_refused(params, message):
    with pytest.raises(ConfigError, match=message):
        make_detector("ShapeMemory", **params)


def test_a_saved_memory_keeps_its_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(shape_search, "CELL", 9)
    rng = np.random.default_rng(1)
    detector = make_detector("ShapeMemory", lengths=(8, 12)).fit(rng.normal(size=(400, 2)))
    assert len(detector._parts[0].memory.bounds) > 2 * shape_search.NEAR
    detector.save(tmp_path)
    twin, Y = axonad.load(tmp_path), rng.normal(size=(50, 2))
    np.testing.assert_array_equal(twin.decision_function(Y), detector.decision_function(Y))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("memory.1", lambda a: a[:0], "it has no training windows"),
        ("memory.1", lambda a: a[:, 1:], "'memory.1' has shape"),
        ("directions.0", lambda a: 9 * a, "'directions.0' must be"),
        ("part_unit", lambda a: 0 * a, "'part_unit' must be at least"),
        ("median", lambda a: a[:1], "'median' has shape"),
        ("cells.1", lambda a: a + 1, "its training windows are not divided into cells"),
    ],
)
def test_a_model_file_that_makes_no_sense_is_refused(tmp_path, name, change, message):
    make_detector("ShapeMemory", lengths=(8,)).fit(waves(100)).save(tmp_path)
    arrays = load((tmp_path / "state.safetensors").read_bytes())
    changed = {**arrays, name: np.ascontiguousarray(change(arrays[name]))}
    forge_arrays(tmp_path / "detector.json", save(changed))
    with pytest.raises(ModelFileError, match=message):
        axonad.load(tmp_path)
