"""Alarms of streams: the same events at once, in chunks, live, for a fleet and after restarts."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from axonad import Fleet, Session, make_detector
from axonad.alarmed import RecordedEvents
from axonad.alarms.bad_data import DataRules
from axonad.alarms.machine import AdaptiveThreshold
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.setup import AlarmSetup
from axonad.data.series import Series
from axonad.errors import ModelFileError
from axonad.explanation import Explanation
from axonad.stream.chunks import check_chunks, score_chunks
from axonad.stream.vehicles import plain_time
from tests.conftest import waves

NAMES = ("speed", "yaw_rate", "torque")
FIELDS = ("start", "end", "fired", "peak", "channels", "severity", "kind", "reason", "number",
          "begins", "ends", "drift", "gathered")  # fmt: skip


def drive(rows=360):
    """Faults, a frozen channel, missing values, and a gap in time at row 240."""
    X = waves(rows, seed=5)
    X[60:70, 1] += 1.5
    X[100:140, 2] = X[100, 2]
    X[180:184, 0] = np.nan
    X[236:250, 1] += 1.5
    X[300:330, 2] = np.nan
    X[345:, 0] += 1.5
    times = np.arange(rows) / 10.0
    times[240:] += 60
    return Series(values=X, channels=NAMES, times=times, name="drive")


@pytest.fixture(scope="module")
def detector():
    normal = Series(values=waves(500), channels=NAMES, times=np.arange(500) / 10.0)
    made = make_detector("CrossChannelRidge").fit(normal)
    start = 3 * made.decision_scores_.max()
    policy = AlarmPolicy(start=start, end=start / 2, level=0.0, merge_gap=5, keep_firing=2,
                         min_duration=2, long=20, rise=0.3, settle=0.01, recover=0.01,
                         allowance=0.02)  # fmt: skip
    rules = DataRules.learn([normal.values], names=NAMES)
    made.set_alarms(AlarmSetup(policy, rules))
    return made


def gathering(detector):
    """Return the detector with a policy whose second event within 300 rows gathers the others."""
    setup, made = detector.alarm_setup_, copy.copy(detector)
    made.set_alarms(replace(setup, policy=replace(setup.policy, pace=1 / 300, burst=1)))
    return made


@pytest.fixture(params=["all are told", "gathered"])
def judged(detector, request):
    return detector if request.param == "all are told" else gathering(detector)


def seen(changes):
    """What can be compared: all of an event but its score, which differs by rounding."""
    return [
        (c.what, c.row, c.event.status, *(getattr(c.event, name) for name in FIELDS))
        for c in changes
    ]


def stream(detector, series, *, restart=None):
    session, changes = Session(detector, hold_limit=10), []
    for i, row in enumerate(series.values):
        if i == restart:
            session = Session(detector, session.state())
        changes += session.push(row, float(series.times[i])).changes
    return [*changes, *session.finish()]


def finals(detector, X):
    """Return the events of rows that come one by one."""
    session = Session(detector)
    changes = [change for row in X for change in session.push(row).changes]
    return [c.event for c in [*changes, *session.finish()] if c.what == "final"]


def test_rounding_cannot_move_an_event(detector):
    """No score of the drive is near a threshold, or the comparisons would depend on rounding."""
    policy, scores = detector.alarm_setup_.policy, Session(detector).push(drive().values).scores
    scores, lift = scores[np.isfinite(scores)], AdaptiveThreshold(policy)
    lifts = lift.push_many(scores)
    assert lifts.max() > 0, "the thresholds follow"
    assert np.abs(scores / (policy.start + lifts) - 1).min() > 1e-4
    for bound in (policy.start, policy.end):
        assert np.abs((scores - lifts) / bound - 1).min() > 1e-4


def test_the_events_of_the_drive(detector):
    changes = stream(detector, drive())
    found = [c.event for c in changes if c.what == "final"]
    faults = [(e.start, e.channels[0]) for e in found if e.kind == "anomaly"]
    assert {name for start, name in faults if start in (60, 345)} <= set(NAMES)
    assert [start for start, _ in faults if start == 60] == [60]
    assert any(event.end == 240 for event in found if event.kind == "anomaly"), "ends at the gap"
    data = [(e.reason, e.channels, e.start, e.end) for e in found if e.kind == "data"]
    assert data == [("frozen", ("torque",), 100, 140), ("missing", ("torque",), 300, 330)]
    assert found[-1].status == "firing"


def test_beyond_the_budget_the_second_event_of_the_drive_gathers_the_rest(detector):
    every, told = (
        [c.event for c in stream(made, drive()) if (c.what, c.event.kind) == ("final", "anomaly")]
        for made in (detector, gathering(detector))
    )
    assert [event.gathered for event in told] == [0, len(every) - 2]
    assert told[-1].drift


@pytest.mark.parametrize("size", [7, 50, 1_000])
def test_many_rows_at_once_equal_single_rows(judged, size):
    series, session, changes = drive(), Session(judged), []
    for first in range(0, len(series), size):
        changes += session.push(series.rows(first, first + size)).changes
    assert seen([*changes, *session.finish()]) == seen(stream(judged, series))


@pytest.mark.parametrize("restart", [1, 61, 68, 72, 112, 181, 239, 240, 241, 305, 312, 331, 350])
def test_a_restart_at_any_row_changes_nothing(judged, restart):
    expected = seen(stream(judged, drive()))
    assert seen(stream(judged, drive(), restart=restart)) == expected


def test_a_fleet_has_the_events_of_single_streams(judged):
    one, other = drive(), drive()
    other = Series(values=other.values[::-1].copy(), channels=NAMES, times=one.times)
    fleet, changes = Fleet(judged), []
    for i in range(len(one)):
        if i == 113:
            fleet = Fleet(judged, fleet.state())
        time = float(one.times[i])
        steps = fleet.push({"a": one.values[i], 2: other.values[i]}, {"a": time, 2: time})
        changes += [change for step in steps.values() for change in step.changes]
    for vehicle, series in (("a", one), (2, other)):
        changes += fleet.finish(vehicle)
        mine = [change for change in changes if change.event.vehicle == vehicle]
        assert seen(mine) == seen(stream(judged, series))


def test_files_at_once_and_in_chunks_have_the_events_of_the_stream(judged):
    """Without missing values, which a file must fill first."""
    series = drive()
    values = np.where(np.isnan(series.values), waves(len(series), seed=5), series.values)
    series = Series(values=values, channels=NAMES, times=series.times)
    live = [c.event for c in stream(judged, series) if c.what == "final"]
    expected = [event for event in live if event.kind == "anomaly"]
    policy = judged.alarm_setup_.policy
    with pytest.warns(UserWarning, match="1 gap in time"):
        whole = judged.events(series, policy=policy)
    names = [name for name in FIELDS if name not in ("begins", "ends")]

    def rows(events):
        return [[getattr(event, name) for name in names] for event in events]

    assert rows(whole) == rows(expected)

    for size in (7, 50, 200):
        parts = [series.rows(at, at + size) for at in range(0, len(series), size)]
        with pytest.warns(UserWarning, match="1 gap in time"):
            checked = check_chunks(judged, parts)
        recording = RecordedEvents(judged, keep_all=True)
        for part in parts:
            recording.see(part)
        for part, found in score_chunks(judged, parts, checked.stretches):
            recording.add(found, times=part.times)
        listed = recording.finish()
        assert rows(timed.event for timed in listed.events) == rows(expected)
        assert [(t.begins, t.ends) for t in listed.events] == [(e.begins, e.ends) for e in expected]
        assert rows(t.event for t in listed.data) == rows(e for e in live if e.kind == "data")


def test_end_alignment_equals_the_stream_from_the_first_window_on(tmp_path):
    made = make_detector("PCA", window=12, align="end").fit(waves(300))
    X = waves(200, seed=3)
    X[:20] += 5  # alarms before the first window is full
    X[120:125] -= 5
    start = 2 * float(np.abs(made.decision_scores_).max())
    made.set_alarms(AlarmSetup(AlarmPolicy(start=start, merge_gap=3)))
    live = finals(made, X)
    whole = made.events(X, policy=made.alarm_setup_.policy)
    assert [(e.start, e.end) for e in live] == [(e.start, e.end) for e in whole]
    assert whole[0].start == 11


def test_the_network_has_the_events_and_channels_of_the_stream(fitted):
    made = copy.copy(fitted).set_params(align="end")
    X = waves(150, seed=3)
    X[60:66, 1] += 3
    X[110:120, 2] -= 3
    found = made.explain(X)
    level, high = np.median(found.scores), np.sort(found.scores)[::-1]
    gaps = high[2:60] - high[3:61]
    at = 2 + int(np.argmax(gaps))  # a threshold as far as can be from any score
    start = float((high[at] + high[at + 1]) / 2)
    made.set_alarms(AlarmSetup(AlarmPolicy(start=start, level=float(level), merge_gap=8)))
    live = finals(made, X)
    whole = made.events(X, policy=made.alarm_setup_.policy)
    assert whole
    for one, other in zip(live, whole, strict=True):
        assert (one.start, one.end, one.fired) == (other.start, other.end, other.fired)
        assert set(one.channels) == set(other.channels)
    assert fitted.alarm_setup_ is None


def test_a_cut_ends_events(detector):
    session = Session(detector)
    session.push(drive().values[:66])
    (event,) = session.current
    assert (event.start, event.status) == (60, "firing")
    assert [change.what for change in session.cut()][-1] == "final"
    assert session.current == []


def test_without_alarms_and_with_other_alarms(detector):
    plain = make_detector("CrossChannelRidge").fit(waves(100))
    session = Session(plain)
    assert session.push(waves(30)).changes == session.finish() == ()
    old = session.state()
    plain.set_alarms(AlarmSetup(AlarmPolicy(start=99.0)))
    goes_on = Session(plain, old)
    high = waves(1) + 1e4
    (change,) = goes_on.push(high).changes
    assert change.event.start == 30, "a state from before the alarms goes on"
    new = goes_on.state()
    plain.set_alarms(AlarmSetup(AlarmPolicy(start=98.0)))
    with pytest.raises(ModelFileError, match="saved with another alarm policy; use the model"):
        Session(plain, new)


def test_events_without_a_policy_are_found_for_who_wants_them():
    plain = make_detector("ControlChart", memory=0.5, contamination=0.02).fit(waves(300))
    X = waves(400, seed=1)
    X[np.random.default_rng(3).random(400) < 0.05] += 3
    expected = plain.explain(X).events(gap=plain.history // 4)
    session, changes = Session(plain, plain_events=True), []
    for i, row in enumerate(X):
        if i % 50 == 3:
            session = Session(plain, session.state(), plain_events=True)
        changes += session.push(row, i / 10).changes
    found = [c.event for c in [*changes, *session.finish()] if c.what == "final"]
    assert len(expected) > 5
    names = ("start", "end", "peak", "channels")
    assert [[getattr(e, n) for n in names] for e in found] == [
        [getattr(e, n) for n in names] for e in expected
    ]
    assert [(e.begins, e.ends) for e in found] == [
        (e.start / 10, (e.end - 1) / 10) for e in expected
    ]


@pytest.mark.parametrize(
    ("time", "plain"),
    [
        (1.5, 1.5), (3, 3), ("x", "x"), (None, None), (math.nan, None), (np.float32(2), 2.0),
        (np.datetime64("2026-01-01"), "2026-01-01"),
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01 00:00:00+00:00"),
    ],
)  # fmt: skip
def test_times_are_saved_as_json_values(time, plain):
    assert plain_time(time) == plain


def test_recorded_rows_are_taken_by_the_names_of_their_channels(detector):
    series = drive()
    swapped = Series(values=series.values[:, ::-1], channels=NAMES[::-1], times=series.times)
    found = []
    for one in (series, swapped):
        recording = RecordedEvents(detector)
        recording.see(one)
        scores = np.full(len(one), np.nan)
        plain = Explanation(scores, {}, None, detector.threshold_, NAMES)
        recording.add(plain, times=one.times)
        found.append([timed.event for timed in recording.finish().data])
    assert [e.channels for e in found[0]] == [e.channels for e in found[1]]
    assert [e.start for e in found[0]] == [100, 300]
