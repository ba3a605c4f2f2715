"""Operator figures: events found, delays, false alarms."""

import math

import numpy as np
import pytest

from axonad.errors import InputError
from axonad.metrics import describe_alarms, evaluate

LABELS = [0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1]
ALARMS = [0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1]


def test_events_delays_and_false_alarms():
    report = describe_alarms(ALARMS, LABELS)
    assert (report.events, report.found, report.missed) == (3, 2, 1)
    assert report.delays == (1, None, 0)
    assert report.median_delay == 0.5
    assert report.false_alarms == 1  # the run that also covers an event is not one
    assert report.false_alarm_steps == 2
    assert report.false_alarms_per_1000_steps == pytest.approx(1000 / 12)
    assert report.precision == pytest.approx(3 / 5)
    assert report.recall == pytest.approx(3 / 6)
    assert report.false_alarms_per_hour is None
    assert report.delays_seconds is None
    assert report.threshold is None


def test_times_in_seconds_and_as_datetimes_agree():
    seconds = np.arange(12) * 300.0
    report = describe_alarms(ALARMS, LABELS, times=seconds)
    assert report.delays_seconds == (300.0, None, 0.0)
    assert report.false_alarms_per_hour == pytest.approx(1.0)  # 12 steps of 5 minutes
    stamps = np.datetime64("2026-01-01T00:00:00") + seconds.astype("timedelta64[s]")
    assert describe_alarms(ALARMS, LABELS, times=stamps) == report


def test_normal_data_has_false_alarms_only():
    report = describe_alarms([0, 1, 1, 0, 1], [0] * 5)
    assert (report.events, report.found, report.missed, report.false_alarms) == (0, 0, 0, 2)
    assert math.isnan(report.recall)
    assert report.precision == 0
    assert report.median_delay is None
    assert report.as_dict()["recall"] is None


def test_no_alarm_leaves_precision_undefined():
    report = describe_alarms([0] * 12, LABELS)
    assert math.isnan(report.precision)
    assert (report.recall, report.missed, report.delays) == (0.0, 3, (None, None, None))


def test_evaluate_reports_at_the_threshold_of_the_best_f1():
    scores = [0.1, 0.2, 0.9, 0.8, 0.3, 0.0, 0.7, 0.1]
    labels = [0, 1, 1, 1, 0, 0, 0, 0]
    report = evaluate(scores, labels, times=np.arange(8) * 0.5).alarms
    assert report.threshold == 0.8
    assert (report.precision, report.recall) == (1.0, pytest.approx(2 / 3))
    assert report.delays == (1,)
    assert report.delays_seconds == (0.5,)
    assert report.false_alarms_per_hour == 0


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1.0, 2.0], r"one entry per step \(12\), got shape \(2,\)"),
        ([3.0, 2.0, *range(10)], "never decrease"),
        ([math.nan] * 12, "times must be finite"),
        (["noon"] * 12, "datetimes or seconds, got dtype"),
    ],
)
def test_bad_times_are_refused(times, message):
    with pytest.raises(InputError, match=message):
        describe_alarms(ALARMS, LABELS, times=times)


def test_alarms_and_labels_of_different_length_are_refused():
    with pytest.raises(InputError, match="got 1 alarms and 12 labels"):
        describe_alarms([1], LABELS)
