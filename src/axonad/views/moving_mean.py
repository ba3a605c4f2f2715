"""The mean of every window of rows, by doubling.

Each mean is a sum of the window's own rows in a fixed order, so it is the same whether the window
is part of a long series or alone, and one extreme row affects no window without it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from axonad.data.windows import count_windows

Array = NDArray[np.float64]


def moving_mean(values: Array, window: int) -> Array:
    """Return the mean over each ``window`` rows (first axis) that follow one another.

    >>> moving_mean(np.array([1.0, 2.0, 6.0, 1.0]), 3).tolist()
    [3.0, 3.0]
    """
    count = count_windows(len(values), window)
    sums, width = values, 1  # sums over ``width`` rows
    total, done = np.zeros((count, *values.shape[1:])), 0
    while True:
        if window & width:
            total += sums[done : done + count]
            done += width
        if done == window:
            return total / window
        sums = sums[:-width] + sums[width:]
        width *= 2
