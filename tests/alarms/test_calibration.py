"""Calibration: within the budget, monotone, honest about how much data there is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.alarms.calibration import Recording, calibrate, peaks
from axonad.alarms.machine import AlarmMachine
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.segments import count_events
from axonad.errors import ConfigError, InputError

shapes = st.builds(
    AlarmPolicy, start=st.just(0.0), min_duration=st.integers(1, 3),
    keep_firing=st.integers(0, 2), merge_gap=st.integers(0, 5), long=st.sampled_from([None, 3]),
    rise=st.sampled_from([0.0, 0.2]), settle=st.sampled_from([0.0, 0.01]),
    recover=st.sampled_from([0.0, 0.05]), allowance=st.sampled_from([0.0, 0.1]),
)  # fmt: skip


def noise(rows, seed=0, smooth=5):
    rng = np.random.default_rng(seed)
    return np.convolve(rng.normal(size=rows + smooth - 1), np.ones(smooth) / smooth, mode="valid")


def recording(rows, seed=0, **others):
    return Recording(noise(rows, seed), **others)


def machine_events(policy, recordings):
    count = 0
    for one in recordings:
        machine = AlarmMachine(policy)
        changes = machine.push_many(one.scores, cuts=one.cuts) + machine.finish()
        count += sum(change.what == "final" for change in changes)
    return count


@given(
    st.integers(0, 10_000), shapes, st.floats(0.2, 12), st.floats(0, 12),
    st.sampled_from([0.0, 0.3]),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_larger_budget_never_gives_fewer_events(seed, shape, events, more, hysteresis):
    known = [recording(150, seed), Recording(noise(80, seed + 1), cuts=(30,))]

    def chosen(number):
        budget = f"{number:.6f} per 230 steps"
        return calibrate(known, budget=budget, shape=shape, hysteresis=hysteresis)

    small, large = chosen(events), chosen(events + more)
    for found, most in ((small, events), (large, events + more)):
        assert found.rate.events == machine_events(found.policy, known)
        assert found.rate.events <= most + 1e-5
    assert small.rate.events <= large.rate.events
    assert small.policy.start >= large.policy.start
    assert small.policy.release >= large.policy.release


def naive_choice(scores, shape, most):
    """The rule by plain loops: candidates from the top, each counted by the state machine."""
    rows, level = shape.min_duration, float(np.median(scores))
    runs = [min(scores[i : i + rows]) for i in range(len(scores) - rows + 1)]
    found = set()
    for i, value in enumerate(runs):
        if value > level and value >= max(runs[max(0, i - 1) : i + 2]):
            found.add(float(value))
    values = [level, *sorted(found)]
    starts = [values[-1] + 0.01 * (values[-1] - level)]
    starts += [(values[i] + values[i - 1]) / 2 for i in range(len(values) - 1, 0, -1)]
    best = None
    for start in starts:
        rules = replace(shape, start=start, level=min(level, start))
        count = machine_events(rules, [Recording(scores)])
        if count > most:
            break
        if best is None or count >= best[1]:
            best = start, count
    return best


@given(st.integers(0, 10_000), shapes, st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_the_choice_is_that_of_plain_loops(seed, shape, events):
    scores = noise(120, seed)
    found = calibrate([Recording(scores)], budget=f"{events} per 120 steps", shape=shape,
                      hysteresis=0.0)  # fmt: skip
    start, count = naive_choice(scores, shape, events - 0.5)
    assert found.rate.events == count
    assert found.policy.start == pytest.approx(start, rel=1e-12)


@pytest.mark.parametrize("budget", [1, 3])
def test_new_data_stays_within_the_budget_on_average(budget):
    def mean_rate(spare):
        counts = []
        for seed in range(200):
            known = [recording(500, 2 * seed)]
            found = calibrate(known, budget=f"{budget} per 500 steps", spare=spare)
            counts.append(count_events(noise(500, 2 * seed + 1), found.policy))
        return np.mean(counts)

    assert 0.5 * budget < mean_rate(0.5) <= budget < mean_rate(0.0)


def test_hours_rate_interval_and_what_cannot_be_promised():
    found = calibrate([recording(3600 * 3)], budget="1 per hour", seconds_per_step=1.0)
    assert found.steps == 10_800
    assert found.rate.periods == 3
    assert found.rate.events == 2
    assert found.supports_budget
    (line,) = found.notes()
    assert "2 events in 3 h of normal data, 0.67 per hour (95 % interval 0.081 to 2.4)" in line
    short = calibrate([recording(840)], budget="1 per hour", seconds_per_step=1.0)
    assert short.rate.events == 0
    assert not short.supports_budget
    assert short.warnings()[0] == (
        "0.233 h of normal data cannot promise fewer than 13 per hour at 95 %; the budget of 1 per "
        "hour needs 3 h"
    )


def test_several_recordings_are_checked_with_the_threshold_of_the_others():
    quiet, loud = recording(2000), Recording(3 * noise(2000, 1), name="loud")
    found = calibrate([quiet, loud], budget="4.5 per 4000 steps")
    assert found.rate.events == 4
    assert found.checked.events > 20, "the loud recording was not in the data of its threshold"
    assert "each recording with the threshold of the others" in found.notes()[1]
    assert calibrate([quiet], budget="1 per 500 steps").checked is None


def test_calibration_data_with_faults_is_called_so():
    scores = noise(4000)
    for at in (700, 1500, 3100):
        scores[at : at + 20] += 30 + at / 1000
    times = np.arange(4000) * 0.5
    known = [recording(4000, 1), Recording(scores, name="drive 2", times=times)]
    found = calibrate(known, budget="10 per 1000 steps", shape=AlarmPolicy(start=0.0, merge_gap=9))
    assert [(name, e.start) for name, e in found.outlying] == [
        ("drive 2", 700), ("drive 2", 1500), ("drive 2", 3100)
    ]  # fmt: skip
    (warning,) = found.warnings()
    assert warning.startswith(
        "the calibration data itself contains 3 events far above the rest; the largest at 1550.0 "
        "of drive 2"
    )
    assert calibrate([recording(4000, seed=3)], budget="10 per 1000 steps").warnings() == []


@pytest.mark.parametrize("draw", ["normal", "standard_exponential", "lognormal"])
def test_scores_of_one_kind_hold_no_outlying_events(draw):
    scores = getattr(np.random.default_rng(5), draw)(size=20_000)
    found = calibrate([Recording(scores)], budget="10 per 10000 steps")
    assert found.outlying == ()


def test_bad_input():
    with pytest.raises(InputError, match="per hour needs the time between two steps"):
        calibrate([recording(100)], budget="1 per hour")
    with pytest.raises(InputError, match="no row with a score; give recordings longer than a"):
        calibrate([Recording(np.full(9, np.nan))], budget="1 per 10 steps")
    with pytest.raises(InputError, match="no row with a score"):
        calibrate([], budget="1 per 10 steps")
    with pytest.raises(ConfigError, match="must be above 0, got '0 per hour'"):
        calibrate([recording(100)], budget="0 per hour")
    with pytest.raises(ConfigError, match="seconds_per_step must be above 0, got 0"):
        calibrate([recording(100)], budget="1 per hour", seconds_per_step=0)


def test_constant_scores_give_no_events():
    found = calibrate([Recording(np.full(50, 2.0))], budget="1 per 10 steps")
    assert (found.policy.start, found.rate.events) == (2.0, 0)


@given(st.integers(0, 1000), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_between_two_peaks_no_event_appears(seed, rows):
    """Why candidates between peaks are enough: elsewhere a falling threshold only joins events."""
    scores = noise(60, seed)
    policy = AlarmPolicy(start=0.0, min_duration=rows)
    found = np.unique(peaks(scores, (), rows))
    grid = np.linspace(scores.min(), scores.max(), 300)[::-1]
    counts = [count_events(scores, replace(policy, start=float(start))) for start in grid]
    for (higher, before), (lower, after) in zip(
        zip(grid, counts, strict=True), list(zip(grid, counts, strict=True))[1:], strict=False
    ):
        if after > before:
            assert ((found > lower) & (found <= higher)).any()
