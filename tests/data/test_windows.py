from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonad.data.windows import count_windows, spread
from axonad.errors import InputError


@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from(["center", "end"]))
def test_spread_gives_one_value_per_step(window, extra, align):
    rows = window + extra
    scores = np.arange(count_windows(rows, window), dtype=float)
    steps = spread(scores, window=window, align=align)
    assert len(steps) == rows
    for step in range(rows):  # the naive twin: which window belongs to this step?
        start = step - (window - 1) if align == "end" else step - -(-(window - 1) // 2)
        assert steps[step] == min(max(start, 0), len(scores) - 1)


def test_center_follows_the_benchmark():
    """T=100: 50 copies of the first score in front, 49 of the last behind."""
    steps = spread(np.array([1.0, 2.0, 3.0]), window=100, align="center")
    assert len(steps) == 102
    assert (steps[:51] == 1.0).all()
    assert steps[51] == 2.0
    assert (steps[52:] == 3.0).all()
    assert (steps == 3.0).sum() == 50


def test_end_is_the_last_row():
    steps = spread(np.array([1.0, 2.0]), window=3, align="end")
    assert steps.tolist() == [1.0, 1.0, 1.0, 2.0]


def test_spread_keeps_further_axes():
    assert spread(np.ones((4, 7)), window=3, align="end").shape == (6, 7)


def test_series_shorter_than_a_window():
    with pytest.raises(InputError, match="window must be at most the series length 80, got 100"):
        count_windows(80, 100)
