"""Rows that surely change nothing about which channels are bad, told by a few cheap comparisons.

After a row that was judged, the next ones leave all channels as good or bad as they are if

- the same values are out of range,
- channels that are frozen keep their value, and those that are missing stay so,
- no other run of one value, or without a value, can have become too long: there is room for as many
  rows as the longest run may still grow.

Where this cannot be said, rows have to be judged; that is always right, only slower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.bad_data import FAR, REASONS, Carry, Counts, DataRules

MISSING = REASONS.index("missing") + 1  # ranks above it are of frozen channels

Row = NDArray[np.float64]


class QuietRows:
    """What the rows after one that was judged are compared with."""

    def __init__(self, rules: DataRules) -> None:
        below, above = rules.bounds
        self._below = np.where(rules.moves, below, -np.inf)
        self._above = np.where(rules.moves, above, np.inf)
        self._limits = rules.limits
        self._room = 0  # rows that need no look at the runs; 0 before the first row
        self._age = 0  # rows since the runs were looked at

    def begin(self, values: Row, ranks: NDArray[np.int8], carry: Carry) -> None:
        """Begin after a row that was judged: its values, ranks, and the runs it ends."""
        self._outside = self._outside_of(values)
        is_missing, is_frozen = ranks == MISSING, ranks > MISSING
        self._missing = np.flatnonzero(is_missing).tolist()
        self._frozen = [(i, float(values[i])) for i in np.flatnonzero(is_frozen).tolist()]
        constant, missing = self._limits
        self._most = np.where(is_frozen, FAR, constant), np.where(is_missing, FAR, missing)
        self._look(carry.constant, carry.missing, values)

    def forget(self) -> None:
        """Let the next row be judged."""
        self._room = self._age = 0

    def has(self, rows: Sequence[Row]) -> bool:
        """Return whether the last row is quiet; ``rows`` are all since the one that was judged."""
        if self._age >= self._room:
            if self._room == 0:
                return False
            self._look_again(np.array(rows[-self._age - 1 : -1]))
            if self._room == 0:
                return False
        self._age += 1
        row = rows[-1]
        if self._outside_of(row) != self._outside:
            return False
        if not (self._frozen or self._missing):
            return True
        return all(row[i] == value for i, value in self._frozen) and not any(
            math.isfinite(row[i]) for i in self._missing
        )

    def _outside_of(self, row: Row) -> bytes:
        return ((row < self._below) | (row > self._above)).tobytes()

    def _look_again(self, rows: Row) -> None:
        """Find how long the runs are after the rows since they were looked at."""
        before = np.concatenate([self._last[None], rows[:-1]])
        constant = _since(rows != before, self._constant + len(rows), found=1)
        known = np.isfinite(rows)
        missing = (
            np.zeros_like(constant)
            if known[-1].all()
            else _since(known, self._lacking + len(rows), found=0)
        )
        self._look(constant, missing, rows[-1])

    def _look(self, constant: Counts, missing: Counts, row: Row) -> None:
        """Find how many rows can follow a row that ends runs of at most these lengths."""
        self._constant, self._lacking, self._last, self._age = constant, missing, row.copy(), 0
        room = min((self._most[0] - constant).min(), (self._most[1] - missing).min())
        self._room = max(0, int(room))


def _since(marks: NDArray[np.bool_], otherwise: Counts, *, found: int) -> Counts:
    """Return how many rows ago a column was last marked, plus ``found``; else the other value."""
    ago = marks[::-1].argmax(axis=0)
    return np.where(marks.any(axis=0), ago + found, otherwise)
