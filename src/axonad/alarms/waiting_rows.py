"""Single rows that wait, so that many of them can be judged at once.

Judging a row by itself costs a dozen calls of numpy, judging a hundred together hardly more. So
rows of a live stream may wait while they cannot change what is reported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 64  # rows that wait


class WaitingRows:
    """At most ``MOST`` rows of one stream, oldest first, with their scores and times."""

    def __init__(self) -> None:
        self.scores: list[float] = []
        self.times: list[Any] = []
        self._rows: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.times)

    @property
    def is_full(self) -> bool:
        """Whether no more row can wait."""
        return len(self.times) == MOST

    @property
    def values(self) -> NDArray[np.float64]:
        """A view of the rows (time, channels), valid until the next is added."""
        return np.empty((0, 0)) if self._rows is None else self._rows[: len(self.times)]

    def add(self, values: NDArray[Any], *, time: Any, score: float = np.nan) -> None:
        """Add a copy of a row."""
        if self._rows is None:
            self._rows = np.empty((MOST, len(values)))
        self._rows[len(self.times)] = values
        self.times.append(time)
        self.scores.append(score)

    def clear(self) -> None:
        """Forget all rows."""
        self.times, self.scores = [], []
