"""A grid over the score axis: exact ranks of a few scores without sorting all of them.

Each score falls into one of at most 16,384 cells, in an order-preserving way. Counting the cells
says which of them hold the scores of interest; only those few scores are then sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from axonad.metrics.ranges import BoolArray, FloatArray, IntArray

_CELLS = 1 << 14
_SAMPLE = 4096
_TAIL = 8  # sampled scores left beyond each end of the grid, so that outliers do not stretch it


@dataclass(frozen=True)
class Grid:
    """Scores with their cells; the scores beyond the ends share the outermost cells."""

    values: FloatArray
    cells: NDArray[np.uint16]
    counts: IntArray  # scores in each cell

    @cached_property
    def before(self) -> IntArray:
        """Number of scores in lower cells, for each cell."""
        return np.cumsum(self.counts) - self.counts

    def subset(self, mask: BoolArray) -> Grid:
        """Return the same cells with only some of the scores."""
        cells = self.cells[mask]
        return Grid(self.values[mask], cells, np.bincount(cells, minlength=self.counts.size))

    def pick(self, wanted: BoolArray) -> FloatArray:
        """Return the scores of the wanted cells, lowest first."""
        return np.sort(self.values[wanted[self.cells]])

    def select(self, places: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the scores at these places of the ascending order, and how many lie below each.

        >>> found = build_grid(np.array([3.0, 1.0, 2.0, 2.0])).select(np.array([0, 2]))
        >>> [part.tolist() for part in found]
        [[1.0, 2.0], [0, 1]]
        """
        cell = np.searchsorted(self.before + self.counts, places, side="right")
        wanted = np.zeros(self.counts.size, dtype=np.bool_)
        wanted[cell] = True
        picked = self.pick(wanted)
        skipped = self._skipped(wanted)[cell]
        values = picked[places - skipped]
        return values, np.searchsorted(picked, values, side="left") + skipped

    def count_below(self, values: FloatArray, cells: NDArray[np.uint16]) -> IntArray:
        """Return how many scores lie below each of the values, whose cells are given."""
        wanted = np.zeros(self.counts.size, dtype=np.bool_)
        wanted[cells] = True
        below = np.searchsorted(self.pick(wanted), values, side="left")
        return np.asarray(below + self._skipped(wanted)[cells], dtype=np.int64)

    def _skipped(self, wanted: BoolArray) -> IntArray:
        """Return, for each cell, how many scores lie in lower cells that are not wanted."""
        kept = np.where(wanted, self.counts, 0)
        return np.asarray(self.before - (np.cumsum(kept) - kept), dtype=np.int64)


def build_grid(values: FloatArray) -> Grid:
    """Return the scores on a grid with about as many cells as scores, 16,384 at most."""
    size = min(values.size, _CELLS)
    sample = np.sort(values[:: max(1, values.size // _SAMPLE)])
    tail = _TAIL if sample.size > 4 * _TAIL else 0
    low, high = sample[tail], sample[sample.size - 1 - tail]
    if low == high:
        low, high = values.min(), values.max()
    if low == high:
        cells = np.zeros(values.size, dtype=np.uint16)
    else:
        scaled = values - low
        with np.errstate(over="ignore"):
            scaled /= high - low
            scaled *= size - 1
        cells = np.clip(scaled, 0, size - 1, out=scaled).astype(np.uint16)
    return Grid(values, cells, np.bincount(cells, minlength=size))
