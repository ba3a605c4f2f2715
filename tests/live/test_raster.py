"""Rows of a live vehicle equal those of the resampler of files."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from axonad.data.resample import Resampler
from axonad.live.raster import LiveRaster

CHANNELS = ("a", "b", "c")
samples = st.lists(
    st.tuples(
        st.integers(0, 3_000),
        st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=3, max_size=3),
    ),
    max_size=40,
)


def rows_of(found):
    return [(time, [None if np.isnan(v) else v for v in row]) for time, row in found]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(samples, st.integers(1, 60), st.lists(st.integers(0, 400), min_size=3, max_size=3),
       st.sampled_from([0, 30, 5_000]), st.data())  # fmt: skip
def test_rows_equal_those_of_the_resampler(samples, interval, ages, lateness, data):
    live = LiveRaster(np.array(ages), interval=interval, lateness=lateness)
    naive = Resampler(dict(zip(CHANNELS, ages, strict=True)), interval=interval)
    if lateness < 5_000:  # in order, or out of order by no more than the lateness
        samples = sorted(samples, key=lambda sample: sample[0])
    seen, found = set(), []
    for time, values in samples:
        row = np.array([np.nan if v is None else float(v) for v in values])
        live.push(time, row)
        for name, value in zip(CHANNELS, values, strict=True):
            if value is not None and (time, name) not in seen:  # the first of two counts
                seen.add((time, name))
                naive.push(name, np.array([time]), np.array([value]))
        if data.draw(st.booleans()):
            found += live.take()
        if data.draw(st.booleans()):  # a restart
            again = LiveRaster(np.array(ages), interval=interval, lateness=lateness)
            again.restore(json.loads(json.dumps(live.state())))
            live = again
    end = 10_000
    live.push(end, np.full(3, 1.0))
    live.push(end + lateness + 1, np.full(3, 1.0))
    found += live.take()
    expected = naive.advance(end - 1)
    found = [row for row in found if row[0] <= end - 1]
    assert rows_of(found) == rows_of(zip(expected.times.tolist(), expected.values, strict=True))


def test_repeated_and_late_samples_are_told_apart_and_change_nothing():
    raster = LiveRaster(np.array([100, 100]), interval=100, lateness=0)
    full, half = np.array([1.0, 2.0]), np.array([3.0, np.nan])
    assert [raster.push(time, full) for time in (100, 200)] == ["", ""]
    assert len(raster.take()) == 2
    assert raster.push(200, full) == "duplicate"
    assert raster.push(150, full) == "late"
    assert raster.push(300, half) == ""
    assert raster.push(300, half) == "duplicate"
    assert raster.take() == []  # the other channel may still come
    assert raster.push(300, np.array([np.nan, 4.0])) == ""
    assert rows_of(raster.take()) == [(300, [3.0, 4.0])]


def test_every_sample_is_a_row_without_an_interval():
    raster = LiveRaster(np.array([0]), interval=None, lateness=10)
    for time in (5, 3, 20):
        assert raster.push(time, np.array([float(time)])) == ""
    assert rows_of(raster.take()) == [(3, [3.0]), (5, [5.0])]


@pytest.mark.parametrize("change", [{"times": [1]}, {"values": [1.0]}, {"newest": 1.5}])
def test_a_damaged_state_is_refused(change):
    raster = LiveRaster(np.array([0, 0]), interval=10, lateness=0)
    with pytest.raises((KeyError, TypeError, ValueError)):
        raster.restore(raster.state() | change)
