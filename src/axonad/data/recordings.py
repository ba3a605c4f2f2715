"""Where one recording ends and the next begins, in rows that are stacked one below the other.

A detector learns from one matrix, whether it was given one recording or many. A *recording* is one
array, frame or Series of a list; gaps in its times cut it into *stretches*. No window, lag or
difference reaches from one stretch to the next, and rows that a detector does not learn from
(validation, held-out folds) are whole recordings where there are at least ``SEVERAL``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.windows import count_windows
from axonad.errors import InputError

SEVERAL = 3  # from so many recordings on, whole ones are held out
LEAST = 0.5  # share of the rows that is always learned from


@dataclass(frozen=True)
class Recordings:
    """How stacked rows divide into recordings, and these into stretches without a gap.

    >>> found = Recordings((4, 3), (7,))
    >>> found.starts(3).tolist()
    [0, 1, 4]
    """

    lengths: tuple[int, ...]
    """Rows of each stretch."""
    whole: tuple[int, ...]
    """Rows of each recording."""

    @classmethod
    def one(cls, rows: int) -> Recordings:
        """Return those of one series without gaps."""
        return cls((rows,), (rows,))

    @property
    def rows(self) -> int:
        """Number of all rows."""
        return sum(self.lengths)

    @property
    def is_one(self) -> bool:
        """Whether this is one series without gaps."""
        return len(self.lengths) == 1

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """The rows of each stretch."""
        edges = accumulate(self.lengths, initial=0)
        return tuple(slice(start, stop) for start, stop in pairwise(edges))

    def parts_with(self, window: int) -> list[slice]:
        """Return the rows of each stretch that has a window."""
        return [part for part in self.parts if part.stop - part.start >= window]

    def matrices(self, X: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the rows of ``X`` recording by recording, whatever their gaps."""
        return np.split(X, np.cumsum(self.whole)[:-1]) if len(self.whole) > 1 else [X]

    # -- windows -----------------------------------------------------------------------------

    def counts(self, window: int) -> list[int]:
        """Return the number of windows in each stretch."""
        return [max(0, length - window + 1) for length in self.lengths]

    def count(self, window: int) -> int:
        """Return the number of windows; raise ``InputError`` if there is none."""
        if self.is_one:
            return count_windows(self.rows, window)
        total = sum(self.counts(window))
        if total == 0:
            raise InputError(
                f"window must be at most the rows of the longest recording without a gap, "
                f"{max(self.lengths)}, got {window}"
            )
        return total

    def starts(self, window: int, stride: int = 1) -> NDArray[np.int64]:
        """Return the row at which each window begins, every ``stride`` rows of a stretch."""
        self.count(window)
        counts = zip(self.parts, self.counts(window), strict=True)
        return np.concatenate(
            [np.arange(part.start, part.start + count, stride) for part, count in counts]
        )

    def ranges(self, window: int, first: int, last: int) -> list[tuple[int, int]]:
        """Return the rows at which the windows of some numbers begin, as ranges within stretches.

        >>> Recordings((4, 3), (4, 3)).ranges(2, 1, 4)
        [(1, 3), (4, 5)]
        """
        found, done = [], 0
        for part, count in zip(self.parts, self.counts(window), strict=True):
            start, stop = max(first - done, 0), min(last - done, count)
            if start < stop:
                found.append((part.start + start, part.start + stop))
            done += count
        return found

    def each(self, do: Callable[[Any], NDArray[Any]], X: NDArray[Any]) -> NDArray[Any]:
        """Return what ``do`` makes of each stretch of the rows ``X``, joined."""
        if self.is_one:
            return do(X)
        return np.concatenate([do(X[part]) for part in self.parts])

    def place(
        self, place: Callable[[Any], NDArray[Any]], values: NDArray[Any], window: int
    ) -> NDArray[Any]:
        """Return values per row: ``place`` makes them of the values of a stretch's windows."""
        if self.is_one:
            return place(values)
        ends = np.cumsum(self.counts(window))
        return np.concatenate([place(part) for part in np.split(values, ends[:-1]) if len(part)])

    # -- held out ----------------------------------------------------------------------------

    def cut(self, share: float) -> int:
        """Return the row from which on rows are held out, about ``share`` of all rows at the end.

        From ``SEVERAL`` recordings on, these are whole ones: as many as come nearest to the share,
        unless less than half of the rows would be left.

        >>> Recordings((10, 10, 10), (10, 10, 10)).cut(0.2), Recordings.one(10).cut(0.2)
        (20, 8)
        """
        wanted = int(self.rows * (1 - share))
        if len(self.whole) < SEVERAL or wanted == self.rows:
            return wanted
        edges = list(accumulate(self.whole[:-1]))
        nearest = min(edges, key=lambda edge: abs(edge - wanted))
        return nearest if nearest >= LEAST * self.rows else wanted

    def before(self, row: int) -> Recordings:
        """Return how the rows before one divide."""
        return Recordings(_until(self.lengths, row), _until(self.whole, row))

    def after(self, row: int) -> Recordings:
        """Return how the rows from one on divide."""
        lengths, whole = (
            _until(each[::-1], self.rows - row)[::-1] for each in (self.lengths, self.whole)
        )
        return Recordings(lengths, whole)

    def learned(self, share: float, window: int) -> Recordings:
        """Return how the rows before :meth:`cut` divide, without a last stretch below a window."""
        found = self.before(self.cut(share))
        if len(found.lengths) > 1 and found.lengths[-1] < window:
            return found.before(found.rows - found.lengths[-1])
        return found

    def folds(self, window: int, folds: int) -> list[tuple[int, int]]:
        """Return the first window of each fold and the one after its last, by number.

        A fold is a part of the windows, of about equal size. From ``SEVERAL`` recordings on, each
        is made of whole ones, and there are at most as many folds as recordings.
        """
        total = self.count(window)
        if len(self.whole) < SEVERAL:
            edges = np.linspace(0, total, folds + 1).astype(int).tolist()
            return list(pairwise(edges))
        done = np.cumsum([0, *self.counts(window)])[np.searchsorted(self._stops, self._edges)]
        ends, last = [0], len(self.whole)
        number = min(folds, last)
        for fold in range(1, number):
            choice = range(ends[-1] + 1, last - (number - fold) + 1)
            wanted = total * fold / number
            ends.append(min(choice, key=lambda end: abs(int(done[end]) - wanted)))
        return [(int(done[a]), int(done[b])) for a, b in pairwise([*ends, last])]

    @property
    def _stops(self) -> NDArray[np.int64]:
        return np.cumsum([0, *self.lengths])

    @property
    def _edges(self) -> NDArray[np.int64]:
        return np.cumsum([0, *self.whole])


def _until(lengths: tuple[int, ...], rows: int) -> tuple[int, ...]:
    """Return the lengths of parts that end after so many rows.

    >>> _until((4, 3), 5)
    (4, 1)
    """
    left = [min(length, rows - end + length) for length, end in _ends(lengths)]
    return tuple(length for length in left if length > 0)


def _ends(lengths: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip(lengths, accumulate(lengths), strict=True))
