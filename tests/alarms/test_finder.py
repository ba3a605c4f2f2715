"""The finder of events: the same changes at once, in parts, row by row and after a restart."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.alarms.bad_data import DataRules
from axonad.alarms.drift_reference import DriftReference
from axonad.alarms.finder import EventFinder
from axonad.alarms.policy import AlarmPolicy
from axonad.errors import InputError

NAMES = ("a", "b")
ROWS = 1_500
GROUND = np.random.default_rng(0).normal(size=(ROWS, 2))
RULES = DataRules.learn([GROUND], names=NAMES)
REFERENCE = DriftReference.learn([(GROUND, np.abs(GROUND[:, 0]))], history=1)
POLICY = AlarmPolicy(start=3.0, end=2.0, level=0.7, merge_gap=4, pace=1 / 300, burst=2)


def recorded():
    """Values with a frozen and a missing channel, and a drift."""
    values = np.random.default_rng(1).normal(size=(ROWS, 2))
    values[300:340, 0] = values[300, 0]
    values[500:540, 1] = np.nan
    values[900:, 1] += 6.0
    scores = np.abs(np.nan_to_num(values[:, 0]))
    scores[:20] = scores[700:705] = np.nan
    scores[1_300:1_305] = 9.0
    return values, scores


def finder():
    return EventFinder(POLICY, rules=RULES, drift=REFERENCE, names=NAMES, hold=5, vehicle="car")


def shown(changes):
    return [repr(change) for change in changes]  # NaN is equal to itself here


@pytest.fixture(scope="module")
def expected():
    values, scores = recorded()
    whole = finder()
    changes = whole.add(scores, raw=values, times=range(ROWS), cuts=[800, 1_000])
    return shown(changes + whole.finish())


def test_all_three_are_found_and_events_are_marked(expected):
    values, scores = recorded()
    whole = finder()
    changes = whole.add(scores, raw=values, cuts=[800, 1_000]) + whole.finish()
    assert {change.event.kind for change in changes} == {"anomaly", "data", "drift"}
    (drift,) = [c for c in changes if c.event.kind == "drift" and c.what == "fired"]
    events = [c.event for c in changes if c.event.kind == "anomaly" and c.what == "final"]
    plain = [event for event in events if not event.reason]
    assert {event.drift for event in plain} == {event.end > drift.row for event in plain}
    assert len(changes) == len(expected)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 400), max_size=12), st.booleans())
def test_parts_and_restarts_change_nothing(expected, sizes, restart):
    values, scores = recorded()
    some, changes, first = finder(), [], 0
    for size in [*sizes, ROWS]:
        if restart:
            text = json.dumps(some.state(), allow_nan=False)
            some = finder()
            some.restore(json.loads(text))
        part = slice(first, min(ROWS, first + size))
        cuts = [cut - first for cut in (800, 1_000)]
        changes += some.add(scores[part], raw=values[part], times=range(ROWS)[part], cuts=cuts)
        first = part.stop
    assert some.row == ROWS
    assert shown(changes + some.finish()) == expected


def test_single_rows_change_nothing(expected):
    values, scores = recorded()
    live, changes = finder(), []
    for row in range(ROWS):
        cuts = (0,) if row in (800, 1_000) else ()
        changes += live.add(scores[row : row + 1], raw=values[row][None], times=[row], cuts=cuts)
    assert shown(changes + live.finish()) == expected


def test_changes_come_in_order_of_rows_and_within_a_row_drift_score_data():
    values, scores = recorded()
    changes = finder().add(scores, raw=values, cuts=[800])
    places = [(c.row, ("drift", "anomaly", "data").index(c.event.kind)) for c in changes]
    assert places == sorted(places)


def test_attribution_is_asked_for_in_rows_of_events_only():
    scores, asked = np.array([0.0, 5, 1, 5, 0, 0, 9]), []

    def attribution(place):
        asked.append(place)
        return np.array([place, 2.0])

    found = EventFinder(AlarmPolicy(start=3.0, merge_gap=1), names=NAMES)
    changes = found.add(scores, attribution=attribution) + found.finish()
    assert asked == [1, 3, 6]
    events = [change.event for change in changes if change.what == "final"]
    assert [event.channels for event in events] == [("a", "b"), ("a", "b")]


def test_rows_that_nobody_could_read_are_a_gap():
    live = finder()
    values, scores = recorded()
    live.add(scores[20:40], raw=values[20:40])
    live.skip(5)
    assert live.row == 25
    live.add(scores[45:60], raw=values[45:60])
    state = live.state()
    assert {state["scores"]["row"], state["data"]["row"], state["drift"]["row"]} == {40}


def test_what_a_model_has_learned_to_judge_since_begins_at_the_row_of_the_state():
    plain = EventFinder(POLICY, names=NAMES)
    plain.add(recorded()[1][20:50])
    more = finder()
    more.restore(plain.state())
    assert {part["row"] for part in more.state().values()} == {30}


def test_rules_and_drift_need_the_values_as_they_came():
    with pytest.raises(InputError, match="found in the values as they came; pass raw"):
        finder().add(np.zeros(3))
    assert EventFinder(POLICY).add(np.zeros(3)) == []


# -- events without a policy -----------------------------------------------------------------------


def naive_runs(alarms, scores, *, gap, cuts):
    """Return first row, row after the last one, and peak of runs of alarms, by definition."""
    found, n = [], len(alarms)
    for row in range(n):
        if not alarms[row]:
            continue
        last = found[-1] if found else None
        if last and row - last[1] <= gap and not any(last[1] - 1 < cut <= row for cut in cuts):
            last[1] = row + 1
        else:
            found.append([row, row + 1])
    return [(a, b, a + int(np.argmax(scores[a:b]))) for a, b in found]


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=60),
    st.integers(0, 5),
    st.sets(st.integers(1, 59), max_size=3),
)
def test_events_without_a_policy_are_runs_of_scores_above_the_threshold(scores, gap, cuts):
    values = np.array(scores)
    blame = np.random.default_rng(len(scores)).normal(size=(len(values), 2))
    found = EventFinder(AlarmPolicy(start=1.0, merge_gap=gap), names=NAMES)
    changes = found.add(values, cuts=sorted(cuts), attribution=blame.__getitem__) + found.finish()
    events = [change.event for change in changes if change.what == "final"]
    runs = naive_runs(values > 1.0, values, gap=gap, cuts=cuts)
    assert [(event.start, event.end, event.peak) for event in events] == runs
    for event in events:  # of the rows above the threshold only
        rows = [row for row in range(event.start, event.end) if values[row] > 1.0]
        order = np.argsort(-blame[rows].max(axis=0), kind="stable")
        assert event.channels == tuple(NAMES[i] for i in order)
    for before, after in pairwise(events):
        assert after.start - before.end > gap or any(before.end <= c <= after.start for c in cuts)
