"""Rows with the rows before them: their second moments, and linear maps of them.

A lagged row is a row and the ``lags`` rows before it, joined: w(t), w(t-1), ..., w(t-lags). The
moments of lagged rows contain each product of two rows many times: block (a+1, b+1) is block (a, b)
of the same rows one step earlier. Only the first blocks are summed over all rows and kept, the
others follow from them and the rows at both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = Callable[[int, int], Array]
"""Returns the rows from a first to before a last one, so that a long series is never copied."""

BLOCK = 16_384  # rows at a time


def blocks(start: int, stop: int) -> list[tuple[int, int]]:
    """Return the first and last bounds of blocks of rows."""
    return [(first, min(first + BLOCK, stop)) for first in range(start, stop, BLOCK)]


@dataclass(frozen=True)
class LaggedMoments:
    """The sum of the products of all pairs in some lagged rows, as little of it as is needed.

    ``first[lag]`` are the products of each channel of a row and each of the row ``lag`` before.
    ``before`` and ``after`` are the rows just before the first and before the end of each stretch
    of rows, latest first.
    """

    first: Array  # (lags + 1, channels, channels)
    before: Array  # (stretches, lags, channels)
    after: Array

    @classmethod
    def of(cls, rows: Rows, pieces: Iterable[tuple[int, int]], *, lags: int) -> Self:
        """Return the moments of the lagged rows t in some ranges, which begin at ``lags`` or later.

        There is at least one range.
        """
        before, after, first = [], [], np.zeros(0)
        for start, stop in pieces:
            before.append(rows(start - lags, start)[::-1])
            after.append(rows(stop - lags, stop)[::-1])
            if not first.size:
                width = before[0].shape[1]
                first = np.zeros((lags + 1, width, width))
            for begin, end in blocks(start, stop):
                part = rows(begin - lags, end)
                now = part[lags:].T
                for lag in range(lags + 1):
                    first[lag] += now @ part[lags - lag : len(part) - lag]
        return cls(first, np.array(before), np.array(after))

    def whole(self) -> Array:
        """Return the moments as a matrix ((lags + 1) x channels, in the order of a lagged row)."""
        width = self.first.shape[1]
        result = np.empty((len(self.first) * width,) * 2)
        result[:width] = np.concatenate(self.first, axis=1)
        before, after = (each.reshape(len(each), -1) for each in (self.before, self.after))
        for start in range(0, before.shape[1], width):
            here, below = slice(start, start + width), slice(start + width, start + 2 * width)
            result[below, below.start :] = (
                result[here, start:-width]
                + before[:, here].T @ before[:, start:]
                - after[:, here].T @ after[:, start:]
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
