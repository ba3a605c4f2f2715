"""Bad data: the plain rules, and that batch, chunks, live rows and restarts agree."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.alarms.bad_data import FEWEST, Carry, DataRules, run_lengths
from axonad.alarms.data_watch import DataWatch
from axonad.data.timing import find_runs
from axonad.errors import ConfigError, InputError
from tests.conftest import waves

NAMES = ("speed", "yaw", "torque")
NAN = np.nan


def rules(**changes):
    return DataRules.learn([waves(400)], names=NAMES, **changes)


def events(values, known=None, cuts=()):
    watch = DataWatch(known or rules())
    changes = watch.push_many(values, cuts=cuts) + watch.finish()
    return [change.event for change in changes if change.what == "final"]


def summary(found):
    return [(e.reason, e.channels, e.start, e.end) for e in found]


def test_normal_data_raises_nothing():
    assert events(waves(400)) == []
    assert events(waves(400, seed=5)) == []


def test_frozen_unplugged_missing_and_out_of_range():
    X = waves(300, seed=1)
    X[50:90, 0] = X[50, 0]
    X[120:160, 1] = -40.0
    X[200:230, 2] = NAN
    X[250:253, 0] = 9.0 + np.arange(3)
    assert summary(events(X)) == [
        ("frozen", ("speed",), 50, 90),
        ("unplugged", ("yaw",), 120, 160),
        ("missing", ("torque",), 200, 230),
        ("out of range", ("speed",), 250, 253),
    ]
    found = events(X)
    assert {event.kind for event in found} == {"data"}
    assert [event.severity for event in found] == ["warning", "alarm", "warning", "warning"]
    assert found[0].fired == 50 + FEWEST, "the first row of a run that is too long"
    assert found[1].fired == 120, "far out of range at once, unplugged later"
    assert np.isnan(found[0].score)


def test_the_range_is_widened_by_its_width_or_its_magnitude():
    X = np.column_stack([np.linspace(22, 27, 100), np.linspace(-1, 1, 100)])
    known = DataRules.learn([X])
    new = X.copy()
    new[:3] = [[1.0, 2.9], [53.0, -2.9], [-6.0, 3.1]]
    assert summary(events(new, known)) == [("out of range", ("0", "1"), 2, 3)]


def test_a_broken_logger_is_one_event():
    X = waves(100, seed=1)
    X[30:60] = NAN
    assert summary(events(X)) == [("missing", NAMES, 30, 60)]


def test_what_normal_data_does_is_not_reported():
    X = waves(400)
    X[10:40, 0] = X[10, 0]
    X[100:130, 1] = NAN
    known = DataRules.learn([waves(50), X], names=NAMES)
    assert known.constant.tolist()[0] == 30
    assert known.missing.tolist() == [0, 30, 0]
    assert known.share[1] == pytest.approx(30 / 450)
    new = waves(200, seed=1)
    new[20:75, 0] = new[20, 0]
    new[100:150, 1] = NAN
    assert events(new, known) == []
    new[20:95, 0] = new[20, 0]
    assert summary(events(new, known)) == [("frozen", ("speed",), 20, 95)]


def test_channels_that_never_move_can_only_be_missing():
    X = np.column_stack([waves(100)[:, 0], np.full(100, 7.0), np.full(100, NAN)])
    known = DataRules.learn([X])
    assert known.moves.tolist() == [True, False, False]
    new = X.copy()
    new[20:50, 1] = 8.0
    assert events(new, known) == []
    new[50:80, 1] = NAN
    assert summary(events(new, known)) == [("missing", ("1",), 50, 80)]


def test_cuts_end_events_and_runs():
    X = waves(100, seed=1)
    X[20:60, 0] = X[20, 0]
    assert summary(events(X, cuts=[40])) == [
        ("frozen", ("speed",), 20, 40), ("frozen", ("speed",), 40, 60)
    ]  # fmt: skip
    assert events(X[:45], cuts=[29, 38]) == []


def test_a_channel_that_goes_wrong_again_and_again_is_one_event_with_its_count():
    X = waves(600, seed=1)
    X[:, 2][np.arange(600) % 20 > 0] = NAN  # sent every twentieth row
    (event,) = events(X)
    assert (event.reason, event.channels, event.start, event.end) == (
        "missing",
        ("torque",),
        1,
        600,
    )
    assert event.gathered == 29 and event.rows == 599 - 29

    X = waves(300, seed=1)
    for start in (50, 90, 140):
        X[start : start + 20, 2] = NAN
    found = events(X)
    assert summary(found) == [("missing", ("torque",), 50, 70), ("missing", ("torque",), 90, 110),
                              ("missing", ("torque",), 140, 160)]  # fmt: skip
    X[80, 2] = NAN  # a run too short to be reported does not join them
    assert summary(events(X)) == summary(found)
    X[76:90, 2] = NAN
    assert summary(events(X))[0] == ("missing", ("torque",), 50, 110)


def test_what_is_held_by_rule_is_not_missing():
    X = waves(400, seed=1)
    X[:, 2][np.arange(400) % 50 > 0] = NAN
    assert len(events(X)) == 1
    watch = DataWatch(rules(), hold=60)
    assert watch.push_many(X) + watch.finish() == []
    X[200:280, 2] = NAN
    watch = DataWatch(rules())
    watch.hold_for(60)
    (change,) = [c for row in X for c in watch.push(row)] + watch.finish()[:0]
    assert (change.what, change.row, change.event.start) == ("fired", 151 + 60, 151)


def naive_events(bad, patience, limit):
    """Return the events of one channel that is bad where a run of rows is longer than ``limit``."""
    runs = [(a, b) for a, b in find_runs(bad) if b - a > limit]
    found = []
    for start, end in runs:
        if found and start - found[-1][1] <= patience:
            found[-1] = (found[-1][0], end, found[-1][2] + 1)
        else:
            found.append((start, end, 0))
    return found


@given(st.lists(st.integers(1, 30), min_size=1, max_size=30), st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_events_of_one_channel_are_those_of_plain_loops(lengths, hold):
    bad = np.concatenate([np.full(length, i % 2 == 0) for i, length in enumerate(lengths)])
    values = np.where(bad, NAN, np.arange(len(bad)) % 7.0)[:, None]
    known = DataRules.learn([np.arange(20.0)[:, None] % 7.0])
    watch = DataWatch(known, hold=hold)
    changes = watch.push_many(values) + watch.finish()
    found = [c.event for c in changes if c.what == "final"]
    limit = max(FEWEST, hold)
    expected = naive_events(bad, limit, limit)
    assert [(e.start, e.end, e.gathered) for e in found] == expected
    rows = [change.row for change in changes]
    assert rows == sorted(rows)


def naive_runs(values):
    constant, missing = np.zeros((2, *values.shape), dtype=int)
    for c in range(values.shape[1]):
        for r in range(len(values)):
            v, before = values[r, c], values[r - 1, c] if r else NAN
            if np.isnan(v):
                missing[r, c] = 1 + (missing[r - 1, c] if r else 0)
            else:
                constant[r, c] = 1 + (constant[r - 1, c] if r and v == before else 0)
    return constant, missing


cells = st.sampled_from([0.0, 1.0, NAN, 50.0])
matrices = st.lists(st.tuples(cells, cells), min_size=1, max_size=60).map(np.array)


@given(matrices, st.integers(1, 59))
def test_runs_are_those_of_plain_loops(values, split):
    carry = Carry.start(2)
    parts = [part for part in (values[:split], values[split:]) if len(part)]
    found = [run_lengths(part, carry) for part in parts]
    constant, missing = naive_runs(values)
    np.testing.assert_array_equal(np.concatenate([one for one, _ in found]), constant)
    np.testing.assert_array_equal(np.concatenate([two for _, two in found]), missing)


@given(matrices, st.lists(st.integers(1, 30)), st.integers(0, 59), st.sets(st.integers(0, 59)))
@settings(max_examples=150, deadline=None)
def test_batch_chunks_live_and_restart_agree(values, sizes, stop, cuts):
    values = np.repeat(values, 5, axis=0)  # runs long enough to be reported
    known = DataRules.learn([np.array([[0.0, 0.0], [1.0, 1.0]])], names=("a", "b"))
    times = [f"t{i}" for i in range(len(values))]
    cuts = {5 * at for at in list(cuts)[:2]}
    at_once = DataWatch(known)
    expected = at_once.push_many(values, times=times, cuts=cuts) + at_once.finish()
    for change in expected:
        assert change.event.begins == times[change.event.start]
        assert change.event.ends == times[change.event.end - 1]

    chunked, changes, first = DataWatch(known), [], 0
    for size in [*sizes, len(values)]:
        part = slice(first, first + size)
        if first < len(values):
            inside = [at - first for at in cuts]
            changes += chunked.push_many(values[part], times=times[part], cuts=inside)
        first += size
    assert changes + chunked.finish() == expected

    live, changes = DataWatch(known), []
    for at, row in enumerate(values):
        if at == stop:
            text = json.dumps(live.state(), allow_nan=False)
            live = DataWatch(known)
            live.restore(json.loads(text))
        if at in cuts:
            changes += live.cut()
        changes += live.push(row, time=times[at])
    assert changes + live.finish() == expected


def test_json_round_trip():
    X = waves(50)
    X[:, 2] = NAN
    known = DataRules.learn([X], names=NAMES, margin=0.5)
    back = DataRules.from_json(json.loads(json.dumps(known.to_json())), channels=3)
    for name, value in vars(known).items():
        np.testing.assert_array_equal(getattr(back, name), value)
    with pytest.raises(ValueError, match="do not fit 2 channels"):
        DataRules.from_json(known.to_json(), channels=2)
    with pytest.raises(ValueError, match="must hold counts"):
        DataRules.from_json(known.to_json() | {"missing": [-1, 0, 0]}, channels=3)


def test_bad_input():
    with pytest.raises(InputError, match="at least one recording with rows"):
        DataRules.learn([])
    with pytest.raises(InputError, match=r"must have the same channels, got \[2, 3\]"):
        DataRules.learn([np.zeros((5, 3)), np.zeros((5, 2))])
    with pytest.raises(ConfigError, match="margin must be at least 0, got -1"):
        DataRules.learn([waves(50)], margin=-1)


@pytest.mark.parametrize(
    "change",
    [{"row": -1}, {"last": [1.0]}, {"since": []}, {"groups": [{"number": 1}]},
     {"groups": [{"number": 1, "start": 0, "end": 5, "fired": 2, "rank": 9, "channels": [0],
                  "begins": None, "ends": None}]},
     {"groups": [{"number": 1, "start": 0, "end": 5, "fired": 2, "rank": 1, "channels": [7],
                  "begins": None, "ends": None}]}],
)  # fmt: skip
def test_a_state_without_sense_is_refused(change):
    watch = DataWatch(rules())
    with pytest.raises((KeyError, TypeError, ValueError)):
        watch.restore(watch.state() | change)


def test_a_context_channel_is_frozen_or_missing_but_never_out_of_range():
    known = rules(context=(1,))
    values = waves(200, seed=1)
    values[:, 1] -= 50.0  # winter
    values[60:] = np.where([False, True, False], -7.0, values[60:])
    values[150:, 1] = NAN
    found = events(values, known)
    assert [(event.reason, event.channels) for event in found] == [
        ("frozen", ("yaw",)), ("missing", ("yaw",)),
    ]  # fmt: skip
    twin = DataRules.from_json(json.loads(json.dumps(known.to_json())), channels=3)
    assert summary(events(values, twin)) == summary(found)
    assert "context" not in rules().to_json()
    with pytest.raises(ValueError, match="context"):
        DataRules.from_json({**known.to_json(), "context": [7]}, channels=3)
