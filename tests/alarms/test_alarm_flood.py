"""Events far beyond the budget: gathered if scores as a whole are higher than usual."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from axonad.alarms.event import SEVERITIES
from axonad.alarms.machine import AlarmMachine
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.segments import count_events, firing_rows
from axonad.alarms.setup import AlarmSetup
from tests.alarms.test_machine import cut_lists, policies, run, scores_lists

HOUR = 1_000  # rows
RULES = AlarmPolicy(start=2.0, level=1.0, end=1.9, pace=1 / HOUR)


def noise(rows, *, median, seed=0):
    return np.random.default_rng(seed).uniform(median - 0.5, median + 0.5, rows)


def with_events(scores, every=100, height=2.5):
    scores = scores.copy()
    scores[every // 2 :: every] = height
    return scores


def test_a_change_of_everything_is_five_events_and_faults_in_normal_data_are_all_told():
    changed = with_events(noise(3_000, median=1.3))
    events = run(changed, RULES)
    assert [event.gathered for event in events] == [0, 0, 0, 0, 25]
    assert [event.drift for event in events] == [False] * 4 + [True]
    assert events[-1].reason == (
        "alarms far beyond the budget, and scores as a whole are higher than usual; "
        "25 more gathered here"
    )
    assert (events[-1].start, events[-1].end, events[-1].rows) == (450, 2_951, 26)
    faulty = with_events(noise(3_000, median=1.0))
    assert len(run(faulty, RULES)) == 30
    assert len(run(changed, replace(RULES, burst=0))) == 30
    assert len(run(changed, replace(RULES, pace=0.0))) == 30


def test_events_within_the_budget_are_told_however_high_scores_are():
    assert len(run(with_events(noise(9_000, median=1.3), every=300), RULES)) == 30


def test_an_event_twice_as_high_is_told_when_it_becomes_so():
    scores = with_events(noise(3_000, median=1.3))
    scores[2_010:2_014] = 2.1, 2.6, 4.5, 5.0  # 1.5 from the usual score have been told
    machine = AlarmMachine(RULES)
    changes = machine.push_many(scores[:2_500])
    told = [(c.row, c.event.start, c.event.score) for c in changes if c.what == "fired"]
    assert told[4:] == [(450, 450, 2.5), (2_012, 2_010, 4.5)]
    assert machine.event is not None
    assert machine.event.severity == "critical"
    assert machine.event.gathered == 5


def test_the_last_event_is_final_after_as_much_time_as_the_budget_gives_one():
    scores = np.concatenate([with_events(noise(1_000, median=1.3)), noise(3_000, median=1.0)])
    scores[2_500] = 2.5
    machine = AlarmMachine(RULES)
    changes = machine.push_many(scores)
    final = [(c.row, c.event.end) for c in changes if c.what == "final"]
    assert final[4] == (951 + HOUR, 951)
    assert changes[-1].event.start == 2_500
    assert not changes[-1].event.drift


def test_gaps_do_not_begin_a_storm_anew():
    scores = with_events(noise(3_000, median=1.3))
    scores[80::100] = np.nan
    assert [event.gathered for event in run(scores, RULES, cuts=[1_020])] == [0, 0, 0, 0, 25]


def test_a_threshold_that_somebody_moves_has_no_budget():
    assert AlarmSetup(RULES).moved(1.5).policy.pace == 0


@given(scores_lists, policies, cut_lists)
@settings(max_examples=300, deadline=None)
def test_gathering_loses_nothing_and_is_never_less_severe(scores, rules, cuts):
    cuts = {at for at in cuts if at < len(scores)}
    rules = replace(rules, cause_gap=0, level=0.0, pace=0.125)
    events = run(scores, rules, cuts)
    assert sum(1 + event.gathered for event in events) == count_events(
        np.array(scores), rules, cuts=cuts
    )
    assert (
        sum(event.rows for event in events) == firing_rows(np.array(scores), rules, cuts=cuts).sum()
    )
    plain = run(scores, replace(rules, pace=0.0), cuts)
    assert max((e.score for e in events), default=0) == max((e.score for e in plain), default=0)
    severest = [max(map(SEVERITIES.index, (e.severity for e in some)), default=0)
                for some in (events, plain)]  # fmt: skip
    assert severest[0] >= severest[1]


@pytest.mark.parametrize(
    "change",
    [{"holds": 1}, {"told": "high"}, {"recent": [[1, 2, 3, 4, 5.0]] * 9}, {"recent": [[1, 5.0]]},
     {"counts": [1, 2]}],
)  # fmt: skip
def test_a_state_without_sense_is_refused(change):
    machine = AlarmMachine(RULES)
    machine.push_many(with_events(noise(900, median=1.3)))
    state = machine.state()
    assert state["gathered"] == 4
    with pytest.raises((KeyError, TypeError, ValueError)):
        machine.restore(state | {"flood": state["flood"] | change})
    for wrong in ({"gathered": -1}, {"gathered": 0}, {"part": {"start": 1}}, {"cut": 1}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            machine.restore(state | wrong)
