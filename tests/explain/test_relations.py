from __future__ import annotations

import numpy as np
import pytest

from axonad.explain.features import LAGS, Features
from axonad.explain.reference import Reference, choose_pieces
from axonad.explain.relations import Relations, _split, find_predictors
from tests.explain.conftest import drive


@pytest.fixture(scope="module")
def relations():
    return Reference.learn(drive(3_000)).relations


def learned_rows(relations: Relations) -> np.ndarray:
    pieces = [piece.astype(np.float64) for piece in relations.reference.pieces]
    return np.concatenate(_split(pieces, relations.features)[0]) - relations.mean


def ridge(P: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """Least squares on the rows themselves, with rows that stand for the penalty."""
    extra = np.sqrt(penalty * len(P)) * np.eye(P.shape[1])
    return np.linalg.lstsq(
        np.vstack([P, extra]), np.concatenate([y, np.zeros(P.shape[1])]), rcond=None
    )[0]


@pytest.mark.parametrize("left_out", [(), (2,), (0, 4)])
def test_residuals_are_those_of_separate_regressions(relations, left_out):
    rows, features = learned_rows(relations), relations.features
    found = relations.residuals(left_out)
    for j in set(range(7)) - set(left_out):
        used = ~features.touching((*left_out, j))
        naive = rows[:, j] - rows[:, used] @ ridge(rows[:, used], rows[:, j], relations.penalty)
        assert np.allclose(rows @ found.map[:, j], naive, atol=1e-6)
    assert not found.map[:, list(left_out)].any()


def test_prediction_uses_nothing_of_its_targets(relations):
    rows, features = learned_rows(relations), relations.features
    found = relations.predict((2, 4))
    used = ~features.touching((2, 4))
    for i, j in enumerate((2, 4)):
        assert np.allclose(
            found.weights[used, i], ridge(rows[:, used], rows[:, j], relations.penalty), atol=1e-6
        )
    assert not found.weights[~used].any()
    assert found.explained.min() > 0.95  # yaw is a product, which a linear regression would miss


def test_predictors_of_a_product(relations):
    assert find_predictors(relations, 2)[0] == 6
    assert set(find_predictors(relations, 2, suspects=(6,))[:2]) == {0, 1}
    assert find_predictors(relations, 4)[0] == 3
    assert 3 not in find_predictors(relations, 4, suspects=(3,))


def test_features_of_a_row():
    X = np.random.default_rng(0).normal(size=(20, 2))
    made = Features(2, pairs=((0, 0), (0, 1), (1, 1)))
    rows = made.of(X)
    assert rows.shape == (12, made.count)
    expected = [X[15 - lag, j] for lag in LAGS for j in range(2)]
    expected += [X[15, 0] ** 2, X[15, 0] * X[15, 1], X[15, 1] ** 2]
    assert np.allclose(rows[7], expected)
    assert made.touching((1,)).tolist() == [False, True] * 5 + [False, True, True]


@pytest.mark.parametrize(
    ("channels", "rows", "lags"), [(19, 16_000, 5), (100, 16_000, 5), (500, 2_000, 1), (19, 100, 1)]
)
def test_fewer_features_for_more_channels_or_fewer_rows(channels, rows, lags):
    assert len(Features.plain(channels, rows).lags) == lags


def test_products_are_used_where_they_hold():
    found = Reference.learn(drive(3_000)).relations.features
    assert (0, 1) in found.pairs  # yaw is steer times speed
    rng = np.random.default_rng(0)
    course = rng.normal(size=(3_000, 3)) @ rng.normal(size=(3, 6))
    linear = Reference.learn(course + 0.1 * rng.normal(size=(3_000, 6))).relations.features
    assert len(linear.pairs) < 6


def test_sample_is_bounded_and_spans_no_break():
    for rows, channels in ((1_000_000, 19), (50_000, 500), (300, 2)):
        pieces = choose_pieces(rows, channels, breaks=[100, rows // 2])
        kept = sum(stop - start for start, stop in pieces)
        assert kept <= 20_000 and kept * channels <= 1_000_000
        assert all(not start < at < stop for start, stop in pieces for at in (100, rows // 2))
    assert choose_pieces(300, 2, breaks=[100]) == [(0, 100), (100, 300)]


def test_short_and_single_channel_training():
    for X in (drive(30), drive(400)[:, :1], np.ones((50, 2)) * [[1.0, 2.0]]):
        found = Reference.learn(X).relations
        assert np.isfinite(found.residuals(()).map).all()
        assert np.isfinite(found.predict((0,)).weights).all()
