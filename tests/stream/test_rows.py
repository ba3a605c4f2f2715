from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import count

import numpy as np
import pandas as pd
import polars as pl
import pytest

from axonad import AxonAD, Fleet, Session
from axonad.data.series import Series
from axonad.errors import ChannelError, ConfigError, InputError
from tests.conftest import waves
from tests.stream.conftest import NAMES, assert_close, assert_same, one_by_one


def test_rows_by_name_frame_or_position(fitted):
    X = waves(20, seed=1)
    expected = Session(fitted).push(X).scores
    by_name = [dict(zip(reversed(NAMES), row[::-1], strict=True)) for row in X]
    assert_close(one_by_one(Session(fitted), by_name).scores, expected)
    for rows in (
        pd.DataFrame(X, columns=NAMES)[NAMES[::-1]], pl.DataFrame(X, schema=NAMES), X.tolist(),
        X.astype(np.float32), by_name, iter(by_name), (row for row in X), list(X),
        Series(values=X, channels=tuple(NAMES)),
    ):  # fmt: skip
        assert_close(Session(fitted).push(rows).scores, expected)


def test_rows_of_a_pandas_frame_are_matched_by_name(fitted):
    X = pd.DataFrame(waves(20, seed=1), columns=NAMES)
    expected = Session(fitted).push(X)
    rows = [row for _, row in X[NAMES[::-1]].iterrows()]
    assert_same([one_by_one(Session(fitted), rows)], expected)
    assert_same([Session(fitted).push(rows)], expected)


NUMBERS = "a row must hold numbers"
STRUCTURED = np.array([(1.0, 2.0, 3.0)], dtype=[("a", "f8"), ("b", "f8"), ("c", "f8")])


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ([1.0, 2.0], ChannelError, "a row must have 3 values, got 2"),
        ((float(i) for i in count()), ChannelError, "a row must have 3 values, got 4"),
        (np.zeros((1, 2)), ChannelError, "X has 2 features"),
        (np.zeros((1, 3, 1)), InputError, "X must have two dimensions"),
        ({"speed": 1, "yaw_rat": 2}, ChannelError, "'yaw_rat' not in model; did you mean"),
        ({1: 2.0}, ChannelError, "channel 1 not in model; drop it"),
        ({"a": 1, "speed": 2, "b": 3}, ChannelError, "channels 'a', 'b' not in model; drop them"),
        ([1.0, "x", 2.0], InputError, f"{NUMBERS}, got str 'x' in"),
        ([[1.0], [2.0], [3.0]], ChannelError, "a row must have 3 values, got 1"),
        ([1.0, [2.0], 3.0], InputError, f"{NUMBERS}, got list"),
        (5.0, InputError, NUMBERS),
        (None, InputError, NUMBERS),
        ("123", InputError, f"{NUMBERS}, got str '123'"),
        (b"abc", InputError, f"{NUMBERS}, got bytes"),
        (bytearray(b"abc"), InputError, NUMBERS),
        (memoryview(b"abc"), InputError, NUMBERS),
        ({1.0, 2.0, 3.0}, InputError, f"{NUMBERS}, got set"),
        (frozenset({1.0, 2.0, 3.0}), InputError, NUMBERS),
        (dict.fromkeys([1.0, 2.0, 3.0]).keys(), InputError, f"{NUMBERS}, got dict_keys"),
        ({"a": 1.0, "b": 2.0, "c": 3.0}.values(), InputError, NUMBERS),
        (["1", "2", "3"], InputError, NUMBERS),
        ([b"1", 2.0, 3.0], InputError, NUMBERS),
        ([1j, 2.0, 3.0], InputError, NUMBERS),
        ([datetime(2026, 1, 1), 2.0, 3.0], InputError, NUMBERS),
        ([np.datetime64("2026-01-01"), 2.0, 3.0], InputError, NUMBERS),
        ([np.zeros(1), np.zeros(1)], ChannelError, "a row must have 3 values, got 1"),
        ((word for word in "abc"), InputError, NUMBERS),
        ([10**400, 0, 0], InputError, NUMBERS),
        ([10**5000, 0, 0], InputError, f"{NUMBERS}, got int a int in a list"),
        (np.array([1, 2, 3], dtype=complex), InputError, f"{NUMBERS}, got an array of type comp"),
        (np.array(["a", "b", "c"]), InputError, NUMBERS),
        (np.array([b"1", b"2", b"3"]), InputError, NUMBERS),
        (np.array([1, 2, 3], dtype="datetime64[ns]"), InputError, NUMBERS),
        (np.array([1, 2, 3], dtype="timedelta64[s]"), InputError, NUMBERS),
        (np.array(["1", 2, 3], dtype=object), InputError, NUMBERS),
        (STRUCTURED, InputError, NUMBERS),
        (STRUCTURED[0], InputError, NUMBERS),
    ],
)
def test_bad_rows_are_refused_and_change_nothing(fitted, row, error, message):
    session = Session(fitted)
    session.push(waves(20))
    with pytest.raises(error, match=message) as caught:
        session.push(row)
    assert "\n" not in str(caught.value)
    if not isinstance(row, Iterator):
        with pytest.raises(InputError):
            session.push([[1.0, 2.0, 3.0], row])
        with pytest.raises(InputError, match=r"^vehicle 'b': "):
            Fleet(fitted).push({"a": [1.0, 2.0, 3.0], "b": row})
    assert session.rows == 20
    assert session.push([0.0, 0.0, 0.0]).first == 20


@pytest.mark.parametrize(
    "rows",
    [np.float64(3.0), np.zeros((2, 3), complex), np.zeros((2, 3), "datetime64[s]"),
     np.array([["1", "2", "3"]], dtype=object), np.array([["1", "2", "3"]]), [{"speed": "x"}]],
)  # fmt: skip
def test_what_cannot_be_rows(fitted, rows):
    session = Session(fitted)
    with pytest.raises(InputError) as caught:
        session.push(rows)
    assert "\n" not in str(caught.value)
    assert session.rows == 0


@pytest.mark.parametrize(
    "row",
    [[True, 0, 1.0], (np.float32(1), np.int8(0), np.bool_(True)), range(1, 4),
     [None, Decimal(1), Fraction(1, 2)], np.array([1, None, 3], dtype=object), {}, {"speed": 1.0},
     (value for value in [1.0, 2.0, 3.0]), np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
     pl.Series([1.0, 2.0, 3.0]), np.array([1, 2, 3], dtype=np.uint8), np.zeros((1, 3)),
     [[1.0, 2.0, 3.0]]],
)  # fmt: skip
def test_what_counts_as_a_row(fitted, row):
    session = Session(fitted)
    session.push([0.0, 0.0, 0.0])
    step = session.push(row)
    assert (step.first, len(step.scores), step.refused) == (1, 1, ())
    assert session.rows == 2


def test_extra_channels_are_dropped_only_if_asked(fitted):
    X = waves(20, seed=1)
    expected = Session(fitted).push(X).scores
    wide = pd.DataFrame(X, columns=NAMES).assign(gps=1.0, note=2.0)
    with pytest.raises(ChannelError, match="channels 'gps', 'note' not in model; drop them"):
        Session(fitted).push(wide)
    assert_close(Session(fitted, ignore_extra=True).push(wide).scores, expected)
    session, fleet = Session(fitted, ignore_extra=True), Fleet(fitted, ignore_extra=True)
    for row in wide.to_dict("records"):
        found = session.push(row), fleet.push({"a": row})["a"]
    assert_close([step.scores[0] for step in found], [expected[-1]] * 2)
    with pytest.raises(ChannelError, match="a row must have 3 values, got 5"):
        session.push(wide.to_numpy()[0])
    with pytest.raises(ConfigError, match="ignore_extra must be True or False, got 'yes'"):
        Session(fitted, ignore_extra="yes")


def test_names_need_a_detector_with_names(small):
    session = Session(AxonAD(**small).fit(waves(100)))
    with pytest.raises(ChannelError, match="fitted without channel names"):
        session.push({"a": 1.0})
