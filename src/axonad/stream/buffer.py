"""The last rows of a stream, always in order and in one piece."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class RowBuffer:
    """Holds the last ``size`` rows, each stored twice, so that a window is always a plain view."""

    def __init__(self, size: int, channels: int) -> None:
        self.total = 0  # rows ever added
        self._size = size
        self._rows = np.zeros((2 * size, channels))
        self._next = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def is_full(self) -> bool:
        """Whether a whole window is there."""
        return self._count == self._size

    def append(self, row: NDArray[np.float64]) -> None:
        """Add a row; the oldest one makes room for it."""
        self._rows[self._next] = row
        self._rows[self._next + self._size] = row
        self._next = (self._next + 1) % self._size
        self._count = min(self._count + 1, self._size)
        self.total += 1

    def extend(self, rows: NDArray[np.float64]) -> None:
        """Add many rows; only the last ``size`` of them can stay."""
        for row in rows[-self._size :]:
            self.append(row)

    def rows(self) -> NDArray[np.float64]:
        """Return the rows held, oldest first."""
        end = self._next + self._size
        return self._rows[end - self._count : end]

    def clear(self) -> None:
        """Forget every row."""
        self._next = self._count = 0
