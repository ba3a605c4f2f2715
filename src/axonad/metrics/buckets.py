"""Exact ranks of a few scores without sorting all of them.

Every score is put into one of at most 16,384 buckets that keep the order of the scores. The bucket
counts tell which buckets hold the scores of interest, and only those are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from axonad.metrics.ranges import BoolArray, FloatArray, IntArray

_MOST_BUCKETS = 1 << 14
_SAMPLE = 4096  # scores that set the lowest and highest bucket
_TAIL = 8  # sampled scores outside the buckets' range at each end, so that outliers do not widen it


@dataclass(frozen=True)
class Buckets:
    """Scores with their bucket numbers; the outermost buckets hold everything beyond the range."""

    values: FloatArray
    index: NDArray[np.uint16]
    counts: IntArray  # scores in each bucket

    @cached_property
    def before(self) -> IntArray:
        """Number of scores in lower buckets, for each bucket."""
        return np.cumsum(self.counts) - self.counts

    def subset(self, mask: BoolArray) -> Buckets:
        """Return the same buckets with only the scores where ``mask`` is true."""
        index = self.index[mask]
        return Buckets(self.values[mask], index, np.bincount(index, minlength=self.counts.size))

    def select(self, ranks: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the scores of these ascending ranks, and the number of scores below each.

        >>> found = build_buckets(np.array([3.0, 1.0, 2.0, 2.0])).select(np.array([0, 2]))
        >>> [part.tolist() for part in found]
        [[1.0, 2.0], [0, 1]]
        """
        bucket = np.searchsorted(self.before + self.counts, ranks, side="right")
        ordered, skipped = self._sort(bucket)
        values = ordered[ranks - skipped]
        return values, np.searchsorted(ordered, values, side="left") + skipped

    def count_below(self, values: FloatArray, index: NDArray[np.uint16]) -> IntArray:
        """Return the number of scores below each value; ``index`` are the values' buckets."""
        ordered, skipped = self._sort(index)
        return np.asarray(np.searchsorted(ordered, values, side="left") + skipped, dtype=np.int64)

    def _sort(self, index: NDArray[np.integer]) -> tuple[FloatArray, IntArray]:
        """Sort the scores of these buckets; also count the lower scores left out, per bucket."""
        wanted = np.zeros(self.counts.size, dtype=np.bool_)
        wanted[index] = True
        kept = np.where(wanted, self.counts, 0)
        skipped = self.before - (np.cumsum(kept) - kept)
        return np.sort(self.values[wanted[self.index]]), skipped[index]


def build_buckets(values: FloatArray) -> Buckets:
    """Return the scores in about as many buckets as scores, 16,384 at most."""
    size = min(values.size, _MOST_BUCKETS)
    sample = np.sort(values[:: max(1, values.size // _SAMPLE)])
    tail = _TAIL if sample.size > 4 * _TAIL else 0
    low, high = sample[tail], sample[sample.size - 1 - tail]
    if low == high:
        low, high = values.min(), values.max()
    if low == high:
        index = np.zeros(values.size, dtype=np.uint16)
    else:
        scaled = values - low
        with np.errstate(over="ignore"):
            scaled /= high - low
            scaled *= size - 1
        index = np.clip(scaled, 0, size - 1, out=scaled).astype(np.uint16)
    return Buckets(values, index, np.bincount(index, minlength=size))
