"""The last rows of live streams, each in a numbered slot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SlotRows:
    """The last ``size`` rows of each slot.

    Each row is stored twice, ``size`` places apart, so that the last rows are a contiguous view.
    """

    def __init__(self, size: int, columns: int) -> None:
        self._size = size
        self._rows = np.zeros((0, 2 * size, columns))
        self._next: list[int] = []  # where the next row of a slot goes

    def load(self, slot: int, rows: Array) -> None:
        """Set all rows of a slot, oldest first; new slots are created as needed."""
        known = len(self._next)
        if slot >= known:
            slots = max(slot + 1, 2 * known)
            grown = np.zeros((slots, *self._rows.shape[1:]))
            grown[:known] = self._rows
            self._rows = grown
            self._next += [0] * (slots - known)
        self._rows[slot, : self._size] = self._rows[slot, self._size :] = rows
        self._next[slot] = 0

    def append(self, slots: Sequence[int], rows: Array) -> None:
        """Append one row to each of some slots; their oldest rows are dropped."""
        for slot, row in zip(slots, rows, strict=True):
            place = self._next[slot]
            self._rows[slot, place] = self._rows[slot, place + self._size] = row
            self._next[slot] = (place + 1) % self._size

    def last(self, slots: Sequence[int], count: int) -> Array:
        """Return the last ``count`` rows of some slots (slots, count, columns), oldest first."""
        if len(slots) == 1:
            return self._of(slots[0], count)[None]
        return np.stack([self._of(slot, count) for slot in slots])

    def _of(self, slot: int, count: int) -> Array:
        end = self._next[slot] + self._size
        return self._rows[slot, end - count : end]
