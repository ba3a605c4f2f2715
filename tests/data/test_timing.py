"""Times: what breaks a series, what is odd about it, what is refused."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from axonad.data.timing import (
    HEAD,
    TimeCheck,
    find_stretches,
    sampling_interval,
    to_second,
    to_seconds,
)
from axonad.errors import InputError


def check(times, *, interval=None, parts=1):
    found = TimeCheck(interval)
    for part in np.array_split(np.asarray(times), parts):
        found.add(part, len(part))
    found.finish("x.csv")
    return found


def test_times_of_every_kind_are_seconds():
    moments = [dt.datetime(2026, 1, 1, 12, 0, second, tzinfo=dt.UTC) for second in range(3)]
    expected = [moment.timestamp() for moment in moments]
    naive = [moment.replace(tzinfo=None) for moment in moments]
    for times in (
        np.array(expected),
        np.array(naive, dtype="datetime64[us]"),
        np.array([moment.isoformat() for moment in moments], dtype=object),
        np.array(["2026-01-01 12:00:00", "2026-01-01T12:00:01Z", "2026-01-01T13:00:02+01:00"]),
        np.array(moments, dtype=object),
    ):
        np.testing.assert_allclose(to_seconds(times), expected, rtol=0, atol=1e-6)
    gappy = to_seconds(np.array([1.0, np.inf, np.nan]))
    assert np.isnan(gappy[1:]).all()
    assert np.isnan(to_seconds(np.array(["NaT", "2026-01-01"], dtype="datetime64[s]"))[0])
    assert to_seconds(np.array(["noon", "one"], dtype=object)) is None
    assert to_seconds(np.array([object()], dtype=object)) is None


@pytest.mark.parametrize(
    ("times", "interval"),
    [
        (np.arange(50) / 10, 0.1),
        (np.arange(500) // 10, 0.1),  # a clock in whole seconds
        (np.r_[np.arange(50), np.arange(50) + 5000.0], 1.0),
        ([0.0, np.nan, 1.0, 2.0], 1.0),
        ([3.0, 3.0, 3.0], None),
        ([3.0], None),
        ([], None),
    ],
)
def test_the_interval_is_the_usual_step(times, interval):
    found = sampling_interval(np.asarray(times, dtype=float))
    assert found == (None if interval is None else pytest.approx(interval, rel=0.03))


@pytest.mark.parametrize("parts", [1, 3, 100])
@pytest.mark.parametrize("interval", [None, 1.0])
def test_gaps_and_steps_back_are_found_in_any_parts(parts, interval):
    times = np.r_[np.arange(40), np.arange(40) + 3600.0, np.arange(20)]
    times[5] = times[4]
    found = check(times, interval=interval, parts=parts)
    assert found.breaks == [40, 80]
    assert (found.gaps, found.backward, found.repeated) == ([40], [80], 1)
    assert found.notes() == [
        "1 row with the same time as the row before",
        "time runs backwards once, first at row 80; no window reaches across it",
        "1 gap in time, first before row 40, the longest 3561 s; no window reaches across it",
    ]


def test_what_is_found_before_the_interval_is_known_is_not_lost():
    times = np.arange(3.0 * HEAD)
    times[5:] += 100
    times[2 * HEAD :] += 100
    for parts in (1, 7, 300):
        assert check(times, parts=parts).gaps == [5, 2 * HEAD]


def test_a_pause_of_ten_intervals_is_no_gap():
    assert check([0, 1, 2, 12, 13, 24]).breaks == [5]


@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_rows_out_of_order_are_refused(order):
    times = np.arange(600.0)
    times = times[::-1] if order == "reversed" else np.random.default_rng(0).permutation(times)
    with pytest.raises(InputError, match=r"x.csv: time runs backwards at \d+ of 600 rows, first"):
        check(times)


def test_the_rate_of_training_is_compared():
    assert check(np.arange(50) * 0.1, interval=0.1).notes() == []
    assert check(np.arange(50) * 0.15, interval=0.1).notes() == [
        "rows are 0.15 s apart, in training they were 0.1 s apart"
    ]
    for factor in (5, 0.2):
        with pytest.raises(InputError, match=r"apart, in training they were 0.1 s apart; resample"):
            check(np.arange(50) * 0.1 * factor, interval=0.1)


def test_times_that_cannot_be_read_are_said_to_be_unchecked():
    found = check(np.array(["lap 1"] * 30, dtype=object))
    assert found.breaks == []
    assert "neither numbers nor ISO 8601" in found.notes()[0]
    assert check([0, np.nan, 2, 3]).notes() == ["1 row without a time"]


def test_stretches_equal_a_walk_through_the_rows():
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = int(rng.integers(1, 20))
        breaks = sorted(rng.choice(rows, rng.integers(0, rows), replace=False).tolist())
        unusable = rng.random(rows) < 0.3
        runs, walked = [], []
        for row in range(rows):
            if unusable[row]:
                if runs and runs[-1][1] == row:
                    runs[-1] = (runs[-1][0], row + 1)
                else:
                    runs.append((row, row + 1))
            elif walked and walked[-1].stop == row and row not in breaks:
                walked[-1] = slice(walked[-1].start, row + 1)
            else:
                walked.append(slice(row, row + 1))
        assert find_stretches(rows, breaks, runs) == walked


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("2021-07-26T04:40:54Z", 0.0),
        ("2021-07-26 06:40:54.250000 +02:00", 0.25),
        ("26.07.2021 04:40:54,5", 0.5),
        ("26.7.2021, 06:40:54 +0200", 0.0),
        ("2021/07/26 04:40:54.123456789 UTC", 0.123456),
        ("2021-07-26 00:10:54 -04:30", 0.0),
    ],
)
def test_times_as_tools_write_them(text, second):
    assert to_second(text) - 1_627_274_454 == pytest.approx(second, abs=1e-6)


@pytest.mark.parametrize("text", ["07/26/2021 04:40:54", "04:40:54", "32.01.2021 00:00", "x"])
def test_times_that_may_mean_two_days_are_not_read(text):
    with pytest.raises(InputError, match="ISO 8601"):
        to_second(text)
