"""The state machine: what fires, and that batch, chunks, live rows and restarts agree."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.alarms.machine import AlarmMachine
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.segments import count_events, find_segments, firing_rows
from axonad.errors import ModelFileError
from tests.alarms.test_adaptive_threshold import naive_lifts

NAN = float("nan")
NAMES = ("a", "b", "c")
LEVELS = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, NAN]

policies = st.builds(
    AlarmPolicy,
    start=st.sampled_from([2.0, 3.0]), end=st.sampled_from([None, 0.5, 1.0, 2.0]),
    level=st.sampled_from([None, 0.0]), min_duration=st.integers(1, 3),
    keep_firing=st.integers(0, 3), merge_gap=st.integers(0, 4), cause_gap=st.integers(0, 8),
    long=st.sampled_from([None, 4]),
    rise=st.sampled_from([0.0, 0.25]), settle=st.sampled_from([0.0, 0.125]),
    recover=st.sampled_from([0.0, 0.5]), allowance=st.sampled_from([0.0, 0.25]),
    pace=st.sampled_from([0.0, 0.05, 0.125]), burst=st.integers(0, 3),
)  # fmt: skip
scores_lists = st.lists(st.sampled_from(LEVELS), min_size=1, max_size=60)
cut_lists = st.sets(st.integers(0, 59), max_size=3)


def policy(**changes):
    return AlarmPolicy(**({"start": 2.0, "level": 0.0} | changes))


def events_of(changes):
    return [change.event for change in changes if change.what == "final"]


def run(scores, rules, cuts=(), **others):
    machine = AlarmMachine(rules, names=NAMES, **others)
    return events_of(machine.push_many(np.array(scores), cuts=cuts) + machine.finish())


def spans(events):
    return [(event.start, event.end) for event in events]


def naive_spans(scores, rules, cuts):
    """Events without causes, by definition: over all rows, with plain loops."""
    found, n, r = [], len(scores), 0
    if rules.rise and rules.level is not None:
        scores = np.array(scores) - naive_lifts(scores, rules)

    def broken(at):
        return at >= n or np.isnan(scores[at])

    part, parts = 0, []
    for at in range(n):
        part += at in cuts or broken(at) or (at > 0 and broken(at - 1))
        parts.append(part)
    while r < n:
        rows = range(r, min(n, r + rules.min_duration))
        fires = len(rows) == rules.min_duration and all(
            scores[i] > rules.start and parts[i] == parts[r] for i in rows
        )
        if not fires:
            r += 1
            continue
        start, last, r = r, rows[-1], rows[-1] + 1
        while r < n and parts[r] == parts[start] and r - last <= rules.keep_firing + 1:
            if scores[r] > rules.release:
                last = r
            elif r - last > rules.keep_firing:
                break
            r += 1
        joins = found and parts[found[-1][0]] == parts[start]
        if joins and start - found[-1][1] <= rules.merge_gap:
            found[-1] = (found[-1][0], r)
        else:
            found.append((start, r))
    return found


def test_pending_firing_resolved_final():
    machine = AlarmMachine(policy(min_duration=2, merge_gap=2), names=NAMES)
    seen = []
    for score in [0, 3, 3, 4, 1, 0, 0, 0]:
        seen.append([change.what for change in machine.push(float(score))])
    assert seen == [[], [], ["fired"], [], ["resolved"], [], ["final"], []]
    assert not machine.is_firing
    assert machine.event is None


def test_event_says_when_how_strong_and_which_channels():
    machine = AlarmMachine(policy(min_duration=2, end=1.0), names=NAMES, vehicle="car 1")
    blame = np.array([1.0, 5.0, -np.inf])
    rows = [(0.0, "t0"), (3.0, "t1"), (9.0, "t2"), (1.5, "t3"), (0.5, "t4")]
    changes = [
        c for score, time in rows for c in machine.push(score, attribution=lambda: blame, time=time)
    ]
    event = changes[-1].event
    assert (event.start, event.end, event.fired, event.peak, event.score) == (1, 4, 2, 2, 9.0)
    assert (event.begins, event.ends) == ("t1", "t3")
    assert (event.vehicle, event.channels) == ("car 1", ("b", "a"))
    assert (event.severity, event.status, event.kind) == ("critical", "resolved", "anomaly")


def test_short_runs_stay_pending():
    assert run([3, 3, 0, 3, 3, 0], policy(min_duration=3)) == []
    machine = AlarmMachine(policy(min_duration=3))
    machine.push(3.0)
    assert machine.event is None
    assert machine.push(3.0) == []
    assert [change.what for change in machine.push(3.0)] == ["fired"]


def test_end_threshold_keeps_and_does_not_start():
    assert spans(run([1.5, 3, 1.5, 1.5, 0.5, 1.5], policy(end=1.0))) == [(1, 4)]


def test_keep_firing_is_part_of_the_event_and_merging_is_not():
    assert spans(run([3, 0, 0, 0, 0, 0], policy(keep_firing=2))) == [(0, 3)]
    assert spans(run([3, 0, 0, 3, 0, 0], policy(keep_firing=2))) == [(0, 6)]
    assert spans(run([3, 0, 0, 3, 0, 0], policy(merge_gap=2))) == [(0, 4)]
    assert spans(run([3, 0, 0, 0, 3, 0], policy(merge_gap=2))) == [(0, 1), (4, 5)]


def test_a_reopened_event_keeps_its_number():
    machine = AlarmMachine(policy(merge_gap=3))
    machine.push(3.0)
    machine.push(0.0)
    (change,) = machine.push(4.0)
    assert (change.what, change.event.number) == ("reopened", 1)


def test_same_cause_within_the_cause_gap_is_one_event():
    scores = np.array([3.0, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0, 0])
    blame = np.zeros((14, 3))
    blame[[0, 4], 1] = 5  # the same channel twice, then another
    blame[8, 2] = 5
    machine = AlarmMachine(policy(cause_gap=4), names=NAMES)
    events = events_of(machine.push_many(scores, attribution=blame.__getitem__) + machine.finish())
    assert [(e.start, e.end, e.channels[0]) for e in events] == [(0, 5, "b"), (8, 9, "c")]


def test_rows_without_a_score_and_cuts_end_an_event():
    assert spans(run([3, 3, NAN, 3], policy(merge_gap=9, keep_firing=9))) == [(0, 2), (3, 4)]
    assert spans(run([3, 3, 3, 3], policy(merge_gap=9), cuts=[2])) == [(0, 2), (2, 4)]
    assert run([3, NAN, 3, 0], policy(min_duration=2)) == []


def test_an_event_at_the_end_is_still_firing():
    (event,) = run([0, 3], policy())
    assert event.status == "firing"


@given(scores_lists, policies, cut_lists)
@settings(max_examples=300, deadline=None)
def test_fast_twin_and_naive_definition_agree_with_the_machine(scores, rules, cuts):
    cuts = {at for at in cuts if at < len(scores)}
    rules = replace(rules, cause_gap=0, pace=0.0)
    expected = naive_spans(scores, rules, cuts)
    assert spans(run(scores, rules, cuts)) == expected
    starts, ends = find_segments(np.array(scores), rules, cuts=cuts)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == expected
    assert count_events(np.array(scores), rules, cuts=cuts) == len(expected)
    firing = firing_rows(np.array(scores), rules, cuts=cuts)
    apart = naive_spans(scores, replace(rules, merge_gap=0), cuts)
    inside = [any(start <= row < end for start, end in apart) for row in range(len(scores))]
    assert firing.tolist() == inside
    events = run(scores, rules, cuts)
    assert [e.rows for e in events] == [int(firing[e.start : e.end].sum()) for e in events]


def test_thresholds_follow_scores_that_stay_high_and_peaks_do_not():
    rules = policy(rise=0.5, recover=0.1)
    machine = AlarmMachine(rules, names=NAMES)
    scores = np.array([0.0, *[4.0] * 30, NAN, *[4.0] * 30, 9.0])
    first, last = events_of(machine.push_many(scores, cuts=[40]) + machine.finish())
    assert (first.start, first.end, first.peak, first.score) == (1, 3, 1, 4.0)
    assert (last.start, last.score, last.severity) == (62, 9.0, "critical"), "lifts outlast gaps"


@given(scores_lists, policies, cut_lists, st.lists(st.integers(1, 20)), st.integers(0, 59))
@settings(max_examples=200, deadline=None)
def test_batch_chunks_live_and_restart_agree(scores, rules, cuts, sizes, stop):
    values = np.array(scores)
    blame = np.random.default_rng(len(scores)).integers(0, 3, (len(values), 3)).astype(float)
    cuts = {at for at in cuts if at < len(values)}
    times = [f"t{i}" for i in range(len(values))]

    def new():
        return AlarmMachine(rules, names=NAMES, top=2)

    at_once = new()
    expected = at_once.push_many(values, attribution=blame.__getitem__, times=times, cuts=cuts)
    expected += at_once.finish()

    chunked, changes, first = new(), [], 0
    for size in [*sizes, len(values)]:
        part = slice(first, first + size)
        inside = [at - first for at in cuts]
        changes += chunked.push_many(
            values[part], attribution=blame[part].__getitem__, times=times[part], cuts=inside
        )
        first += size
    assert changes + chunked.finish() == expected

    live, changes = new(), []
    for at, score in enumerate(scores):
        if at == stop:  # as after kill -9: only the saved text is left
            text = json.dumps(live.state(), allow_nan=False)
            live = new()
            live.restore(json.loads(text))
        if at in cuts:
            changes += live.cut()
        changes += live.push(score, attribution=lambda at=at: blame[at], time=times[at])
    assert changes + live.finish() == expected


@given(scores_lists, policies, cut_lists, st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_rows_in_alarm_only_grow_when_the_threshold_falls(scores, rules, cuts, lower):
    """Of thresholds that stay where they are: a lower one is lifted earlier."""
    rules = replace(rules, rise=0.0, pace=0.0)
    cuts = {at for at in cuts if at < len(scores)}

    def rows(policy):
        return {i for event in run(scores, policy, cuts) for i in range(event.start, event.end)}

    below = rules.moved(rules.start - lower)
    assert rows(replace(rules, cause_gap=0)) <= rows(replace(below, cause_gap=0))


def test_a_state_of_another_policy_is_refused():
    state = AlarmMachine(policy()).state()
    with pytest.raises(ModelFileError, match="saved with another alarm policy"):
        AlarmMachine(policy(start=5.0)).restore(state)


@pytest.mark.parametrize(
    "change",
    [
        {"row": -1}, {"row": "3"}, {"firing": 1}, {"firing": True}, {"gathered": 1},
        {"event": {"start": 1}}, {"threshold": {"after": -1.0, "saved": 0.0, "quiet": 0}},
        {"threshold": {}},
        {"event": {"start": 5, "end": 4, "last": 4, "fired": 4, "peak": 4, "score": 1.0,
                   "begins": None, "ends": None, "attribution": None}},
        {"event": {"start": 0, "end": 1, "last": 0, "fired": 0, "peak": 0, "score": 1.0,
                   "begins": None, "ends": None, "attribution": [1.0]}},
    ],
)  # fmt: skip
def test_a_state_without_sense_is_refused(change):
    machine = AlarmMachine(policy(), names=NAMES)
    with pytest.raises((KeyError, TypeError, ValueError)):
        machine.restore(machine.state() | change)


def test_a_state_that_attributes_by_words_is_refused():
    policy = AlarmPolicy(start=1.0)
    machine = AlarmMachine(policy, names=("a", "b"))
    machine.push(2.0, attribution=lambda: np.array([1.0, 2.0]))
    state = machine.state()
    state["event"]["attribution"] = ["1.0", "2.0"]
    with pytest.raises(ValueError, match=r"attribution .* expected a finite number"):
        AlarmMachine(policy, names=("a", "b")).restore(state)


def test_a_state_of_another_version_is_refused_in_one_sentence():
    machine = AlarmMachine(policy())
    state = machine.state()
    del state["version"]  # as release 0.2.0 wrote it
    with pytest.raises(ModelFileError, match=r"another version of axonad; begin a new state$"):
        machine.restore(state)
