"""Times as text and as positions on an axis."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from axonad.report.times import TimeAxis, format_time

ZONE = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (12, "12"),
        (np.int64(12), "12"),
        (64.685000001, "64.685"),
        (np.float64(64.0), "64"),
        (np.float32(64.685), "64.685"),
        (0.1 + 0.2, "0.3"),
        (1_700_000_000.25, "1700000000.25"),
        (2.5e-7, "2.5e-07"),
        (0.0, "0"),
        (-1.5, "-1.5"),
        (float("nan"), ""),
        (None, ""),
        (np.datetime64("NaT"), ""),
        (np.datetime64("2026-01-01"), "2026-01-01T00:00:00"),
        (np.datetime64("2026-01-01T10:20:00.000000000"), "2026-01-01T10:20:00"),
        (np.datetime64("2026-01-01T10:20:30.120", "us"), "2026-01-01T10:20:30.12"),
        (dt.datetime(2026, 1, 1, 10, 20, 30, 500_000, ZONE), "2026-01-01T10:20:30.5+02:00"),
        (dt.datetime(2026, 1, 1, 10, 20, tzinfo=ZONE), "2026-01-01T10:20:00+02:00"),
        (np.timedelta64(1500, "ms"), "1.5"),
        (dt.timedelta(minutes=2), "120"),
        ("10:20", "10:20"),
    ],
)
def test_a_time_is_printed_as_people_write_it(value, expected):
    assert format_time(value) == expected


@pytest.mark.parametrize(
    ("times", "label"),
    [
        (None, "step"),
        (np.array([1.0, 2.0, 4.0]), "time (s)"),
        (np.array([1, 2, 4]), "time (s)"),
        (np.array([1.0, 1.0, 4.0]), "step"),
        (np.array([1.0, np.nan, 4.0]), "step"),
        (np.array(["a", "b", "c"], dtype=object), "step"),
        (np.array(["2026-01-01", "2026-01-02", "2026-01-04"], dtype="M8[s]"), "time"),
        (np.array(["2026-01-01", "NaT", "2026-01-04"], dtype="M8[s]"), "step"),
    ],
)
def test_an_axis_shows_times_that_rise(times, label):
    axis = TimeAxis.of(times, 3)
    assert (axis.label, axis.is_date) == (label, label == "time")
    np.testing.assert_allclose(axis.x - axis.x[0], [0, 1, 2] if label == "step" else [0, 1, 3])


def test_a_span_reaches_half_a_step_beyond_its_rows():
    axis = TimeAxis.of(np.array([0.0, 2.0, 4.0, 50.0, 52.0]), 5)
    assert axis.span(1, 3) == (1.0, 5.0)
    assert axis.span(3, 4) == (49.0, 51.0), "not the middle of a gap"
    assert TimeAxis.of(None, 1).span(0, 1) == (-0.5, 0.5)


def test_curves_and_spans_are_interrupted_at_cuts():
    axis = TimeAxis.of(np.array([0.0, 1.0, 100.0, 101.0]), 4, (2,))
    x, values = axis.curve(np.arange(4))
    assert np.isnan(x).tolist() == np.isnan(values).tolist() == [False, False, True, False, False]
    assert axis.spans(1, 4) == [(0.5, 1.5), (99.5, 101.5)]
    assert axis.spans(2, 4) == [axis.span(2, 4)]
