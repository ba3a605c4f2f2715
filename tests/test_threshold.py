from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonad.errors import ConfigError, InputError
from axonad.threshold import THRESHOLDS, find_events, set_threshold

rng = np.random.default_rng(0)


@pytest.mark.parametrize("rule", THRESHOLDS)
@pytest.mark.parametrize("draw", [rng.normal, rng.exponential, rng.standard_t])
def test_the_rate_holds_on_fresh_scores(rule, draw):
    args = (4,) if draw == rng.standard_t else ()
    threshold = set_threshold(draw(*args, size=20_000), rule=rule, rate=0.005)
    fresh = (draw(*args, size=200_000) > threshold).mean()
    assert 0.003 < fresh < 0.007


def test_pot_reaches_beyond_the_training_series():
    """At a rate rarer than one in n the quantile is stuck at the maximum; the tail goes on."""
    levels = []
    for seed in range(20):
        scores = np.random.default_rng(seed).exponential(size=5_000)
        levels.append(set_threshold(scores, rule="pot", rate=1e-5))
        assert set_threshold(scores, rule="quantile", rate=1e-5) <= scores.max()
    assert 10.5 < np.mean(levels) < 13.5, "the true level is 11.5"


def test_conformal_refuses_what_the_data_cannot_support():
    with pytest.raises(ConfigError, match=r"at contamination 0\.001 needs at least 999"):
        set_threshold(np.arange(100.0), rule="conformal", rate=0.001)
    assert set_threshold(np.arange(999.0), rule="conformal", rate=0.001) == 998.0


@pytest.mark.parametrize("rule", THRESHOLDS)
def test_constant_scores(rule):
    assert set_threshold(np.zeros(2_000), rule=rule, rate=0.01) == 0.0


def test_no_scores():
    with pytest.raises(InputError, match="from 0 training scores"):
        set_threshold(np.array([]), rule="quantile", rate=0.01)


@given(st.lists(st.integers(0, 1), max_size=40), st.integers(0, 5))
def test_events_cover_exactly_the_alarms(alarms, gap):
    array = np.array(alarms, dtype=int)
    scores = np.arange(len(array), dtype=float)
    events = find_events(array, scores, gap=gap)
    inside = np.zeros(len(array), dtype=bool)
    for event in events:
        inside[event.start : event.end] = True
        assert array[event.start] == array[event.end - 1] == 1
        assert event.peak == event.end - 1
    assert (inside >= (array == 1)).all()
    for before, after in pairwise(events):
        assert after.start - before.end > gap
    if gap == 0:
        assert (inside == (array == 1)).all()
