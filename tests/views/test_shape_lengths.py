"""The dominant period, and the lengths that follow from it."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.views.shape_lengths import dominant_period, window_lengths


def sines(rows: int, *periods: float) -> np.ndarray:
    noise = np.random.default_rng(0).normal(size=(rows, len(periods)))
    return np.sin(2 * np.pi * np.arange(rows)[:, None] / np.array(periods)) + 0.01 * noise


def test_the_period_is_the_median_over_channels():
    assert dominant_period(sines(3000, 30, 50, 90)) == pytest.approx(50, abs=1)


def test_periods_below_16_and_above_256_do_not_count():
    assert dominant_period(sines(3000, 10)) == pytest.approx(20, abs=1)
    assert dominant_period(np.arange(500.0)[:, None]) is None
    assert dominant_period(np.zeros((500, 1))) is None


def test_lengths_need_two_windows_and_twenty_rows():
    assert window_lengths(sines(277, 40)) == (40, 60, 64, 128)
    assert window_lengths(sines(276, 40)) == (40, 60, 64)
    assert window_lengths(sines(148, 40)) == (40, 60)
    assert window_lengths(np.arange(60.0)[:, None]) == (19,)
