"""Rows with the rows before them: their second moments, and linear maps of them.

A lagged row is a row and the ``lags`` rows before it, joined: w(t), w(t-1), ..., w(t-lags). The
moments of lagged rows contain each product of two rows many times: block (a+1, b+1) is block (a, b)
of the same rows one step earlier. Only the first blocks are summed over all rows, the others follow
from them and the rows at both ends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = Callable[[int, int], Array]
"""Returns the rows from a first to before a last one, so that a long series is never copied."""

BLOCK = 16_384  # rows at a time


def blocks(start: int, stop: int) -> list[tuple[int, int]]:
    """Return the first and last bounds of blocks of rows."""
    return [(first, min(first + BLOCK, stop)) for first in range(start, stop, BLOCK)]


def lagged_moments(rows: Rows, start: int, stop: int, *, lags: int) -> Array:
    """Return the sum over t in [start, stop) of the products of all pairs in lagged row t.

    ``start`` is at least ``lags``.
    """
    head, tail = rows(start - lags, start)[::-1], rows(stop - lags, stop)[::-1]
    width = head.shape[1]
    size = (lags + 1) * width
    first = np.zeros((width, size))
    for begin, end in blocks(start, stop):
        part = rows(begin - lags, end)
        now = part[lags:].T
        for lag in range(lags + 1):
            first[:, lag * width : (lag + 1) * width] += now @ part[lags - lag : len(part) - lag]
    result = np.empty((size, size))
    result[:width] = first
    before, after = head.ravel(), tail.ravel()
    for lag in range(lags):
        here = slice(lag * width, (lag + 1) * width)
        below = slice(here.stop, here.stop + width)
        result[below, below.start :] = (
            result[here, here.start : -width]
            + np.outer(before[here], before[here.start :])
            - np.outer(after[here], after[here.start :])
        )
    upper = np.triu(result)
    return np.asarray(upper + np.triu(result, 1).T)


def apply_lagged(part: Array, weights: Array) -> Array:
    """Return the product of each lagged row with ``weights`` (lags + 1, inputs, outputs).

    The first ``lags`` rows of ``part`` are only inputs.
    """
    lags = len(weights) - 1
    result = part[lags:] @ weights[0]
    for lag in range(1, lags + 1):
        result += part[lags - lag : len(part) - lag] @ weights[lag]
    return np.asarray(result)
