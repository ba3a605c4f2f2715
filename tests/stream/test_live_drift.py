"""Drift of streams and files: the same at once, in chunks, live, for a fleet, after a restart."""

from __future__ import annotations

import numpy as np
import pytest

import axonad
from axonad import Fleet, Session, make_detector
from axonad.alarmed import RecordedEvents
from axonad.alarms.recalibrate import recalibrate
from axonad.cli.score_chunks import score_chunked
from axonad.data.series import Series

NAMES = ("speed", "torque")


def record(rows, seed, *, shift=0.0, gap=0.0):
    """Noise with a relation; from row 1,000 on the torque is higher, at 1,500 a gap in time."""
    rng = np.random.default_rng(seed)
    speed = rng.normal(size=rows)
    values = np.column_stack([speed, 2 * speed + rng.normal(size=rows)])
    values[1_000:, 1] += shift
    if shift:
        values[30::61, 0] = np.nan
    times = np.arange(rows) / 10.0
    times[1_500:] += gap
    return Series(values=values, channels=NAMES, times=times, name="drive")


@pytest.fixture(scope="module")
def detector():
    made = make_detector("CrossChannelRidge", smooth=5).fit(record(1_000, 1))
    setup, _ = recalibrate(made, [record(1_500, 2), record(1_500, 3)], budget="100 per hour")
    made.set_alarms(setup)
    return made


@pytest.fixture(scope="module")
def drive():
    return record(2_200, 4, shift=6.0, gap=60.0)


def plain(changes):
    return [
        (c.what, c.row, c.event.kind, c.event.start, c.event.end, c.event.channels, c.event.drift,
         c.event.begins)
        for c in changes
    ]  # fmt: skip


def live(detector, drive, *, restart=None):
    session, changes = Session(detector), []
    for i, row in enumerate(drive.values):
        if i == restart:
            session = Session(detector, session.state())
        changes += session.push(row, float(drive.times[i])).changes
    return [*changes, *session.finish()]


@pytest.fixture(scope="module")
def changes(detector, drive):
    return live(detector, drive)


def test_a_stream_tells_of_drift_and_marks_events(changes):
    drifts = [c for c in changes if c.event.kind == "drift"]
    assert [c.what for c in drifts] == ["fired", "final"], "a gap in time does not end it"
    event = drifts[0].event
    assert 800 <= event.start <= 1_050
    assert "torque" in event.channels
    held = range(event.fired, 2_200)
    events = [c.event for c in changes if c.event.kind == "anomaly" and c.what == "final"]
    assert any(one.drift for one in events)
    for one in events:
        assert one.drift == (one.end > held.start)


def test_a_restart_changes_nothing(detector, drive, changes):
    assert plain(live(detector, drive, restart=1_321)) == plain(changes)


def test_many_rows_and_a_fleet_give_the_same(detector, drive, changes):
    session, fleet, found = Session(detector), Fleet(detector), []
    at_once = session.push(drive.values, drive.times).changes
    assert plain([*at_once, *session.finish()]) == plain(changes)
    for row, time in zip(drive.values, drive.times, strict=True):
        found += fleet.push({"car": row}, {"car": float(time)})["car"].changes
    found += fleet.finish("car")
    assert plain(found) == plain(changes)
    assert {c.event.vehicle for c in found} == {"car"}


def test_a_vehicle_resumes_from_its_own_state(detector, drive, changes):
    fleet, found = Fleet(detector), []
    for i, (row, time) in enumerate(zip(drive.values, drive.times, strict=True)):
        if i in (7, 1_321):
            saved = fleet.state("car")
            fleet.remove("car")
            fleet.resume("car", saved)
            assert fleet.state("car") == saved
        found += fleet.push({"car": row, 2: row}, {"car": float(time)})["car"].changes
    assert plain([*found, *fleet.finish("car")]) == plain(changes)


@pytest.mark.filterwarnings("ignore::axonad.errors.DataWarning")
def test_a_file_at_once_and_in_chunks_gives_the_same(detector, drive, changes, tmp_path):
    filled = drive.values.copy()
    for row in np.flatnonzero(np.isnan(filled[:, 0])):
        filled[row, 0] = filled[row - 1, 0]
    usable = Series(values=filled, channels=NAMES, times=drive.times)
    streamed = live(detector, usable)
    drifts = [c.event for c in streamed if c.event.kind == "drift" and c.what == "final"]
    recording = RecordedEvents(detector)
    recording.see(usable)
    recording.add(detector.explain(usable), times=usable.times)
    found = [timed.event for timed in recording.finish().drift]
    assert [(e.start, e.fired, e.end, e.channels, e.reason) for e in found] == [
        (e.start, e.fired, e.end, e.channels, e.reason) for e in drifts
    ]

    def chunks(events):
        for start in range(0, len(usable), 700):
            part = usable.rows(start, start + 700)
            if events is not None:
                events.see(part)
            yield part

    listed = score_chunked(detector, chunks, tmp_path / "scores.csv", keep_events=True)
    assert [one.event.start for one in listed.drift] == [e.start for e in drifts]
    assert listed.drift[0].event.reason == drifts[0].reason
    assert listed.drift[0].begins == usable.times[drifts[0].start]
    events = detector.events(usable, policy=detector.alarm_setup_.policy)
    marks = [(e.start, e.drift) for e in events]
    assert [(one.event.start, one.event.drift) for one in listed.events] == marks
    assert any(mark for _, mark in marks)


def test_a_saved_model_judges_the_same_and_an_old_one_loads(detector, drive, changes, tmp_path):
    detector.save(tmp_path / "m")
    again = axonad.load(tmp_path / "m")
    assert again.alarm_setup_.drift.key == detector.alarm_setup_.drift.key
    document = detector.alarm_setup_.to_json()
    del document["drift"]
    older = type(detector.alarm_setup_).from_json(document, channels=2)
    assert older.drift is None
    again.set_alarms(older)
    assert {c.event.kind for c in live(again, drive)} == {"anomaly"}
