from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.data import raster
from axonad.data.resample import Resampler
from axonad.errors import ConfigError, InputError

SAMPLES = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.lists(
        st.tuples(st.integers(-60, 400), st.sampled_from([0.5, -2.0, 7.0, math.nan, math.inf])),
        max_size=12,
    ),
    min_size=1,
)


def naive(samples, ages, interval, until):
    """Row by row and sample by sample: the last value at or before the time, if young enough."""
    rows, had_value = [], False
    first = min((t for pairs in samples.values() for t, _ in pairs), default=until)
    for number in range(first // interval - 1, until // interval + 1):
        time, row = number * interval, []
        for name in ages:
            best = None
            for at, value in samples.get(name, []):
                if math.isfinite(value) and at <= time and (best is None or at >= best[0]):
                    best = (at, value)
            row.append(best[1] if best and time - best[0] <= ages[name] else math.nan)
        is_empty = all(map(math.isnan, row))
        if not is_empty or had_value:
            rows.append((time, row))
        had_value = not is_empty
    return rows


def as_rows(found):
    return list(zip(found.times.tolist(), found.values.tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(SAMPLES, st.integers(1, 30), st.integers(1, 90), st.data())
def test_batch_stream_and_restart_are_the_naive_rule(samples, interval, age, data):
    ages = {"a": age, "b": max(1, age // 3), "c": 3 * age}
    expected = naive(samples, ages, interval, 400)

    whole = Resampler(ages, interval=interval)
    for name, pairs in samples.items():
        whole.push(name, [t for t, _ in pairs], [v for _, v in pairs])
    np.testing.assert_equal(as_rows(whole.advance(400)), expected)

    cuts = sorted(data.draw(st.lists(st.integers(-50, 400), max_size=6)))
    live, rows, before = Resampler(ages, interval=interval), [], -(10**9)
    for cut in [*cuts, 400]:
        for name, pairs in samples.items():
            part = [(t, v) for t, v in pairs if before < t <= cut]
            live.push(name, [t for t, _ in part], [v for _, v in part])
        rows += as_rows(live.advance(cut))
        before = cut
        restored = Resampler(ages, interval=interval)
        restored.restore(json.loads(json.dumps(live.state(), allow_nan=False)))
        restored.counts, live = live.counts, restored
    np.testing.assert_equal(rows, expected)
    assert live.counts == whole.counts


def test_nothing_of_the_future_is_in_a_row():
    one, other = (Resampler({"a": 50}, interval=10) for _ in range(2))
    one.push("a", [0, 10, 20, 31], [1.0, 2.0, 3.0, 4.0])
    other.push("a", [0, 10, 20, 31, 40], [1.0, 2.0, 3.0, -400.0, 9.0])
    np.testing.assert_array_equal(one.advance(30).values, other.advance(30).values)


def test_a_value_is_held_up_to_its_age_and_a_silence_is_a_gap():
    found = Resampler({"a": 20, "b": 5}, interval=10)
    found.push("a", [0, 1_000_000_000], [1.0, 2.0])
    found.push("b", [-3], [7.0])
    rows = found.advance(1_000_000_000)
    assert rows.times.tolist() == [0, 10, 20, 30, 1_000_000_000]
    nan = np.nan
    np.testing.assert_array_equal(rows.values, [[1, 7], [1, nan], [1, nan], [nan, nan], [2, nan]])
    assert vars(found.counts["a"]) == {"fresh": 2, "held": 2, "missing": 1}


def test_a_late_sample_counts_for_the_rows_to_come():
    found = Resampler({"a": 100}, interval=10)
    found.push("a", [5], [1.0])
    assert found.advance(20).values.tolist() == [[1.0], [1.0]]
    found.push("a", [12], [2.0])
    assert found.advance(30).values.tolist() == [[2.0]]


def test_states_that_do_not_fit_are_refused():
    found = Resampler({"a": 5}, interval=10)
    for state in (
        {"next": 0.5, "samples": {"a": [[], []]}},
        {"next": 0, "samples": {"b": [[], []]}},
        {"next": 0, "samples": {"a": [[2, 1], [0.0, 0.0]]}},
        {"next": 0, "samples": {"a": [[1], [math.nan]]}},
    ):
        with pytest.raises(ValueError, match=r"^(its|the) "):
            found.restore(state)
    with pytest.raises(InputError, match="no channel 'x'"):
        found.push("x", [0], [1.0])
    with pytest.raises(InputError, match="at least 1 µs, got 0"):
        Resampler({"a": 5}, interval=0)


def test_rates_and_durations():
    assert raster.parse_rate("2.5Hz") == 400_000
    assert raster.parse_duration("max_age", "250us") == 250
    for text in ("10", "fast", "10 m", "0Hz", "2h", "1GHz"):
        with pytest.raises(ConfigError, match="rate must be"):
            raster.parse_rate(text)
    with pytest.raises(ConfigError, match="max_age must be a duration such as 500ms"):
        raster.parse_duration("max_age", "3")


def test_the_rate_is_that_of_the_fastest_channel_rounded():
    assert raster.choose_interval([92_000.0, 5e6]) == 100_000
    assert raster.choose_interval([3_100_000.0]) == 2_000_000
    assert raster.choose_interval([1.0]) == raster.FASTEST
    assert raster.native_interval(np.array([0, 0, 10, 20, 500])) == 10
    assert raster.native_interval(np.array([5])) is None
    assert raster.hold_age(3600e6, 1000) == 1000 * raster.LONGEST_HOLD


def test_the_row_that_parts_two_stretches_survives_a_split():
    """The second sample reaches no row, but makes the first one forgotten."""
    for ends in ([30], [15, 30]):
        resampler = Resampler({"a": 1}, interval=10)
        resampler.push("a", np.array([10, 13]), np.array([1.0, 2.0]))
        assert [time for end in ends for time in resampler.advance(end).times] == [10, 20]
