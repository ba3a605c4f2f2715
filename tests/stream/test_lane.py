"""Missing values of a live stream, and the buffer of its last rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonad import StreamScorer
from axonad.errors import StaleError
from axonad.stream.lane import RowBuffer
from tests.conftest import waves
from tests.stream.conftest import NAMES, assert_close


@pytest.mark.parametrize("missing", [np.nan, np.inf, -np.inf, None, pd.NA])
def test_a_missing_value_is_held_and_counted(fitted, missing):
    X = waves(30, seed=1)
    filled = X.copy()
    filled[20, 1] = X[19, 1]
    filled[21, 1] = X[19, 1]
    expected, _ = fitted.score_ends(filled)
    scorer = StreamScorer(fitted)
    live = []
    for i, row in enumerate(X.tolist()):
        if i in (20, 21):
            row[1] = missing
        live.append(scorer.push(row))
    assert_close([r.score for r in live[15:]], expected)
    assert live[20].held == ("yaw_rate",)
    assert live[22].held == ()
    assert (scorer.held, scorer.refused, scorer.rows, scorer.scored) == (2, 0, 30, 15)


def test_a_missing_name_is_a_missing_value(fitted):
    scorer = StreamScorer(fitted)
    for row in waves(20):
        result = scorer.push(dict(zip(NAMES, row, strict=True)))
    result = scorer.push({"speed": 0.1, "torque": 0.2})
    assert result.held == ("yaw_rate",)


def test_silence_beyond_the_limit_is_refused_and_the_window_starts_anew(fitted):
    scorer = StreamScorer(fitted, hold_limit=3)
    X = waves(60, seed=1)
    scorer.push_many(X[:20])
    bad = X[20].copy()
    bad[2] = np.nan
    for _ in range(3):
        assert scorer.push(bad) is not None
    message = "channel 'torque' has been silent for more than hold_limit=3 rows at row 23"
    with pytest.raises(StaleError, match=message):
        scorer.push(bad)
    assert (scorer.held, scorer.refused) == (3, 1)
    with pytest.raises(StaleError, match="'torque' has no value at row 24 and no earlier one"):
        scorer.push(bad)
    fresh = [scorer.push(row) for row in X[30:50]]
    assert fresh[:15] == [None] * 15, "no window spans the gap"
    assert_close([r.score for r in fresh[15:]], fitted.score_ends(X[30:50])[0])
    assert fresh[15].step == 25 + 15


def test_a_value_in_between_resets_the_count(fitted):
    scorer = StreamScorer(fitted, hold_limit=1)
    X = waves(40)
    for i, row in enumerate(X):
        bad = row.copy()
        if i % 2:
            bad[0] = np.nan
        scorer.push(bad)
    assert (scorer.held, scorer.refused) == (20, 0)


def test_push_many_with_gaps_equals_push(fitted):
    X = waves(80, seed=1)
    X[10, 0] = X[30:33, 1] = X[33, 2] = np.nan
    one = [s.push(row) for s in [StreamScorer(fitted, hold_limit=3)] for row in X]
    many = StreamScorer(fitted, hold_limit=3).push_many(X)
    assert_close([r.score for r in many if r], [r.score for r in one if r])
    assert [r.held for r in many if r] == [r.held for r in one if r]


def test_hold_limit_zero_refuses_at_once(fitted):
    scorer = StreamScorer(fitted, hold_limit=0)
    scorer.push([0.0, 0.1, 0.2])
    with pytest.raises(StaleError, match="silent for more than hold_limit=0"):
        scorer.push([0.0, np.nan, 0.2])


@given(st.integers(1, 8), st.lists(st.integers(0, 99), max_size=30))
def test_buffer_holds_the_last_rows(size, values):
    buffer = RowBuffer(size, 1)
    for value in values:
        buffer.append(np.array([float(value)]))
    assert buffer.rows()[:, 0].tolist() == [float(v) for v in values[-size:]]
    assert buffer.is_full == (len(values) >= size)
    assert buffer.rows().base.shape == (2 * size, 1), "memory does not grow"
