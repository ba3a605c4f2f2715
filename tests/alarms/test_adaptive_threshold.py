from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.alarms.machine import AdaptiveThreshold
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.segments import firing_rows

SCORES = st.lists(
    st.one_of(st.just(float("nan")), st.floats(-1, 6, allow_nan=False)), min_size=1, max_size=80
)
POLICY = AlarmPolicy(
    start=1.0, level=0.0, rise=0.25, settle=0.125, recover=0.5, allowance=0.25, long=3
)


def naive_lifts(scores, policy):
    """Row by row, without any shortcut; numbers are exact in binary."""
    unit = policy.start - policy.level
    lift, saved, lifts = 0.0, 0.0, []
    for score in scores:
        lifts.append(lift)
        if np.isnan(score):
            continue
        if score <= policy.start:
            lift = max(0.0, lift - policy.recover * unit)
            most = np.inf if policy.long is None else policy.long
            saved = min(most, saved + policy.allowance)
        elif score <= policy.start + lift:
            lift = max(0.0, lift - policy.settle * unit)
        elif saved >= 1:
            saved -= 1
        else:
            lift += policy.rise * unit
    return lifts


@given(SCORES)
def test_rows_at_once_equal_the_naive_twin(scores):
    found = AdaptiveThreshold(POLICY).push_many(np.array(scores))
    np.testing.assert_allclose(found, naive_lifts(scores, POLICY), atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(SCORES, st.data())
def test_chunks_rows_and_restarts_give_the_same(scores, data):
    values = np.array(scores)
    whole = AdaptiveThreshold(POLICY).push_many(values)
    cut = data.draw(st.integers(0, len(values)))
    first, second = AdaptiveThreshold(POLICY), AdaptiveThreshold(POLICY)
    begin = first.push_many(values[:cut])
    second.restore(json.loads(json.dumps(first.state())))
    np.testing.assert_array_equal(np.concatenate([begin, second.push_many(values[cut:])]), whole)
    rows = AdaptiveThreshold(POLICY)
    each = [rows.value if np.isnan(score) else rows.push(score) for score in scores]
    np.testing.assert_array_equal(each, whole)


def test_scores_that_stay_high_are_not_an_alarm_for_ever():
    rng = np.random.default_rng(0)
    quiet, high = rng.uniform(0, 0.8, 2000), rng.uniform(2.5, 3, 8000)
    fault = np.full(50, 6.0)
    scores = np.concatenate([quiet, high, fault, high])
    fixed = AlarmPolicy(start=1.0, level=0.4, long=400)
    follows = AlarmPolicy(
        start=1.0, level=0.4, long=400, rise=0.3, settle=0.002, recover=0.01, allowance=0.01
    )
    assert firing_rows(scores, fixed).mean() > 0.85
    firing = firing_rows(scores, follows)
    assert firing.mean() < 0.02
    assert firing[10_000:10_050].any(), "the fault rises above what scores were lately"


def test_a_rare_event_lasts_as_long_as_its_scores_are_high():
    scores = np.concatenate([np.zeros(20_000), np.full(150, 3.0), np.zeros(500)])
    policy = AlarmPolicy(
        start=1.0, level=0.0, long=400, rise=0.3, settle=0.002, recover=0.01, allowance=0.01
    )
    assert np.flatnonzero(firing_rows(scores, policy)).tolist() == list(range(20_000, 20_150))


def test_without_a_rise_nothing_changes():
    threshold = AdaptiveThreshold(AlarmPolicy(start=1.0, level=0.0))
    assert threshold.push_many(np.array([0.0, 5.0, 5.0])).tolist() == [0, 0, 0]
    assert threshold.push(5.0) == 0


@pytest.mark.parametrize(
    "state", [{"after": -1.0, "saved": 0.0, "quiet": 0}, {"after": 0.0, "saved": 0.0, "quiet": 1.5}]
)
def test_a_damaged_state_is_refused(state):
    with pytest.raises(Exception, match=r"after|quiet"):
        AdaptiveThreshold(POLICY).restore(state)
