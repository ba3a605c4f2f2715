"""Samples, courses and states as bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonad.live.packing import (
    pack_course,
    pack_samples,
    pack_state,
    unpack_course,
    unpack_samples,
    unpack_state,
)
from axonad.live.record import Course


@given(st.integers(0, 5), st.integers(1, 4), st.integers(0, 2**31))
def test_what_is_packed_comes_back(rows, channels, seed):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.integers(1, 10**9, rows)) + 1_700_000_000_000_000
    values = rng.normal(size=(rows, channels))
    samples = [(int(time), row) for time, row in zip(times, values, strict=True)]
    found = unpack_samples(pack_samples(samples), channels=channels)
    assert [time for time, _ in found] == times.tolist()
    assert all((a[1] == b[1]).all() for a, b in zip(found, samples, strict=True))
    course = Course(times, values.astype("f4"), values[:, 0].astype("f4"), rng.random(rows) > 0.5)
    again = unpack_course(pack_course(course))
    for name in ("times", "values", "scores", "alarms"):
        np.testing.assert_array_equal(getattr(again, name), getattr(course, name))
    state = {"buffer": values.tolist(), "last": None}
    assert unpack_state(pack_state(state)) == state


@pytest.mark.parametrize("data", [b"", b"S1", b"S1\x05\0\0\0", b"C1" + bytes(8), b"J1{}", b"xx"])
def test_damaged_bytes_are_refused(data):
    for unpack in (lambda d: unpack_samples(d, channels=2), unpack_course, unpack_state):
        with pytest.raises(ValueError):
            unpack(data)
