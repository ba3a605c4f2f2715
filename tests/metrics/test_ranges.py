from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from axonad.metrics.ranges import find_ranges, iter_level_runs, steps_of, sum_above

from . import naive

levels = st.lists(st.integers(0, 4), min_size=1, max_size=30).map(lambda v: np.array(v, np.uint8))


@settings(max_examples=50, deadline=None)
@given(levels)
def test_ranges_at_every_level_are_those_of_a_plain_scan(levels):
    for q, runs in enumerate(iter_level_runs(levels, 4)):
        expected = naive.ranges(levels > q)
        assert list(zip(*(part.tolist() for part in runs), strict=True)) == expected
        assert [part.tolist() for part in find_ranges(levels > q)] == [r.tolist() for r in runs]


def test_steps_of_ranges_of_which_one_is_empty():
    steps, owner = steps_of(np.array([2, 5, 7]), np.array([4, 5, 8]))
    assert steps.tolist() == [2, 3, 7]
    assert owner.tolist() == [0, 0, 2]


def test_sums_over_the_levels_above():
    assert sum_above(np.array([[5, 2, 1], [1, 1, 1]])).tolist() == [[3, 1], [2, 1]]
