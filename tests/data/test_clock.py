"""Times of a live stream: gaps, steps backwards, repeated and missing times."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from axonad.data.clock import Clock, read_times
from axonad.data.timing import TimeCheck, to_second
from axonad.errors import InputError

TIMES = [0, 1, 2, 2, 3, 14, 13, np.nan, 14, 24, 24, np.nan, np.nan, 40, 10, 11]


@pytest.mark.parametrize("interval", [1.0, 0.05, None])
@pytest.mark.parametrize("sizes", [[1] * 16, [16], [5, 1, 1, 4, 5]])
def test_breaks_are_those_of_a_file(interval, sizes):
    check = TimeCheck(interval if interval is not None else 1e9)
    check.add(np.array(TIMES), len(TIMES))
    check._look()
    one, many, found, start = Clock(), Clock(), [], 0
    for size in sizes:
        part = np.array(TIMES[start : start + size])
        found += [start + i for i in many.find_breaks(part, interval)]
        many.advance_many(part, interval)
        start += size
    assert found == check.breaks
    assert [i for i, t in enumerate(TIMES) if one.advance(float(t), interval)] == check.breaks
    for clock in (one, many):
        assert (clock.gaps, clock.repeated) == (len(check.breaks), check.repeated)
        assert clock.last == 11.0
    again = Clock()
    again.restore(one.state())
    assert vars(again) == vars(one)


@pytest.mark.parametrize(
    "time",
    [
        90, 90.0, np.float32(90), np.int64(90), np.datetime64("1970-01-01T00:01:30"),
        np.timedelta64(90, "s"), datetime(1970, 1, 1, 0, 1, 30, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 1, 30), "1970-01-01T00:01:30Z", " 1970-01-01 00:01:30 ",
        pd.Timestamp("1970-01-01 00:01:30"),
    ],
)  # fmt: skip
def test_one_time(time):
    assert to_second(time) == 90.0
    assert read_times([time, time], 2).tolist() == [90.0, 90.0]


@pytest.mark.parametrize("time", [None, np.nan, np.inf, pd.NaT, pd.NA, np.datetime64("NaT")])
def test_missing_times(time):
    assert np.isnan(to_second(time))


@pytest.mark.parametrize(
    "time", [True, "soon", b"90", "", [1.0], {}, object(), 1j, np.complex128(1), 10**400]
)
def test_times_that_cannot_be_read(time):
    with pytest.raises(InputError, match="a time must be a number of seconds, a datetime or ISO"):
        to_second(time)
    with pytest.raises(InputError, match="a time must be a number of seconds"):
        read_times([1.0, time], 2)


@pytest.mark.parametrize("times", [5.0, "ab", {0: 1.0, 1: 2.0}])
def test_times_of_many_rows_are_a_list(times):
    with pytest.raises(InputError, match="times must be a list of times, got"):
        read_times(times, 2)
    with pytest.raises(InputError, match="times must have 2 entries, one for each row, got 3"):
        read_times([1, 2, 3], 2)


@pytest.mark.parametrize(
    "state",
    [{}, {"gaps": -1, "repeated": 0, "last": None}, {"gaps": 0, "repeated": 0.5, "last": None},
     {"gaps": 0, "repeated": 0, "last": "now"}, {"gaps": 0, "repeated": 0, "last": np.inf}],
)  # fmt: skip
def test_states_that_do_not_fit(state):
    with pytest.raises((KeyError, TypeError, ValueError)):
        Clock().restore(state)
