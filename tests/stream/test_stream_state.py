"""Missing values of a live stream, and the buffer of its last rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonad import Session
from axonad.stream.stream_state import RowBuffer
from tests.conftest import waves
from tests.stream.conftest import NAMES, assert_close, assert_same, one_by_one


@pytest.mark.parametrize("missing", [np.nan, np.inf, -np.inf, None, pd.NA])
def test_a_missing_value_is_held_and_counted(fitted, missing):
    X = waves(30, seed=1)
    filled = X.copy()
    filled[20, 1] = X[19, 1]
    filled[21, 1] = X[19, 1]
    expected, _ = fitted.score_ends(filled)
    session, rows = Session(fitted), X.tolist()
    rows[20][1] = rows[21][1] = missing
    live = one_by_one(session, rows)
    assert_close(live.scores[15:], expected)
    assert live.held == {20: ("yaw_rate",), 21: ("yaw_rate",)}
    counts = session.counts()
    assert [counts[n] for n in ("held", "refused", "rows", "scored")] == [2, 0, 30, 15]


def test_a_missing_name_is_a_missing_value(fitted):
    session = Session(fitted)
    for row in waves(20):
        session.push(dict(zip(NAMES, row, strict=True)))
    assert session.push({"speed": 0.1, "torque": 0.2}).held == {20: ("yaw_rate",)}


def test_silence_beyond_the_limit_is_refused_and_the_window_starts_anew(fitted):
    session = Session(fitted, hold_limit=3)
    X = waves(60, seed=1)
    session.push(X[:20])
    bad = X[20].copy()
    bad[2] = np.nan
    for _ in range(3):
        assert np.isfinite(session.push(bad).scores[0])
    (refused,) = session.push(bad).refused
    assert refused.row == 23
    message = "channel 'torque' has been silent for more than hold_limit=3 rows at row 23"
    assert message in refused.reason
    assert (session.counts()["held"], session.counts()["refused"]) == (3, 1)
    (refused,) = session.push(bad).refused
    assert "'torque' has no value at row 24 and no earlier one" in refused.reason
    fresh = one_by_one(session, X[30:50])
    assert np.isnan(fresh.scores[:15]).all(), "no window spans the gap"
    assert_close(fresh.scores[15:], fitted.score_ends(X[30:50])[0])
    assert fresh.first == 25


def test_a_value_in_between_resets_the_count(fitted):
    session, X = Session(fitted, hold_limit=1), waves(40)
    X[1::2, 0] = np.nan
    session.push(X)
    assert (session.counts()["held"], session.counts()["refused"]) == (20, 0)


def test_many_rows_with_gaps_equal_single_rows(fitted):
    X = waves(80, seed=1)
    X[10, 0] = X[30:33, 1] = X[33, 2] = X[50:55, 2] = np.nan
    one = one_by_one(Session(fitted, hold_limit=3), X)
    assert_same([Session(fitted, hold_limit=3).push(X)], one)
    assert len(one.refused) == 2


def test_hold_limit_zero_refuses_at_once(fitted):
    session = Session(fitted, hold_limit=0)
    session.push([0.0, 0.1, 0.2])
    (refused,) = session.push([0.0, np.nan, 0.2]).refused
    assert "silent for more than hold_limit=0" in refused.reason


@given(st.integers(1, 8), st.lists(st.integers(0, 99), max_size=30))
def test_buffer_holds_the_last_rows(size, values):
    buffer = RowBuffer(size, 1)
    for value in values:
        buffer.append(np.array([float(value)]))
    assert buffer.rows()[:, 0].tolist() == [float(v) for v in values[-size:]]
    assert buffer.is_full == (len(values) >= size)
    assert buffer.rows().base.shape == (2 * size, 1), "memory does not grow"
