"""Alarm policies: checks, severity, moved thresholds, JSON."""

from __future__ import annotations

import json

import pytest

from axonad.alarms.policy import AlarmPolicy
from axonad.errors import ConfigError


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"start": 1.0, "end": 2.0}, "end must be at most start (1), got 2; an event ends at"),
        ({"start": "high"}, "start must be a number, got 'high'"),
        ({"start": float("nan")}, "start must be a number"),
        ({"start": 1.0, "level": 3.0}, "level must be at most 1.0, got 3.0"),
        ({"start": 1.0, "min_duration": 0}, "min_duration must be at least 1, got 0"),
        ({"start": 1.0, "merge_gap": -1}, "merge_gap must be at least 0, got -1"),
        ({"start": 1.0, "keep_firing": 1.5}, "keep_firing must be an integer, got 1.5"),
        ({"start": 1.0, "far": (4.0, 2.0)}, "far must be at least 4.0, got 2.0"),
        ({"start": 1.0, "far": 3.0}, "far must be two numbers, got 3.0"),
        ({"start": 1.0, "long": 0}, "long must be at least 1, got 0"),
    ],
)
def test_mistakes_get_one_sentence(values, message):
    with pytest.raises(ConfigError) as caught:
        AlarmPolicy(**values)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("peak", "rows", "expected"),
    [
        (3.5, 10, "warning"), (5.0, 10, "alarm"), (9.0, 10, "critical"),
        (3.5, 60, "alarm"), (5.0, 60, "critical"), (9.0, 60, "critical"),
    ],
)  # fmt: skip
def test_severity_is_how_far_and_how_long(peak, rows, expected):
    assert AlarmPolicy(start=3.0, level=1.0, long=60).severity(peak=peak, rows=rows) == expected


def test_severity_without_a_level_depends_on_duration_alone():
    policy = AlarmPolicy(start=-30.0, long=5)
    assert policy.severity(peak=1e9, rows=4) == "warning"
    assert policy.severity(peak=-29.0, rows=5) == "alarm"


def test_a_threshold_at_the_level_makes_everything_critical():
    assert AlarmPolicy(start=1.0, level=1.0).severity(peak=1.1, rows=1) == "critical"


def test_moved_keeps_the_share_of_the_end_threshold():
    policy = AlarmPolicy(start=5.0, end=4.0, level=1.0).moved(9.0)
    assert (policy.start, policy.end, policy.level) == (9.0, 7.0, 1.0)
    assert AlarmPolicy(start=5.0, level=1.0).moved(3.0) == AlarmPolicy(start=3.0, level=1.0)
    below = AlarmPolicy(start=5.0, end=4.0, level=1.0).moved(0.5)
    assert (below.end, below.level) == (0.5, None)


def test_json_round_trip_and_unknown_names():
    policy = AlarmPolicy(start=5.0, end=4.0, level=1.0, merge_gap=3, far=(2.0, 3.0), long=9)
    assert AlarmPolicy.from_json(json.loads(json.dumps(policy.to_json()))) == policy
    with pytest.raises(ConfigError, match="AlarmPolicy has no parameter 'stat'; did you mean"):
        AlarmPolicy.from_json({"stat": 1.0})
    with pytest.raises(KeyError):
        AlarmPolicy.from_json({"end": 1.0})
