"""Single rows that wait, so that many of them can be judged at once.

Judging a row by itself costs a dozen calls of numpy, judging fifty together hardly more. So rows of
a live stream wait while they cannot change what is reported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 64  # rows that wait

Row = NDArray[np.float64]


class WaitingRows:
    """At most ``MOST`` rows of one stream, oldest first, with their scores and times.

    Rows are not copied and must stay as they are while they wait.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.scores: list[float] = []
        self.times: list[Any] = []

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_full(self) -> bool:
        """Whether no more row can wait."""
        return len(self.rows) >= MOST

    def add(self, row: Row, *, time: Any, score: float = np.nan) -> None:
        """Add a row."""
        self.rows.append(row)
        self.times.append(time)
        self.scores.append(score)

    def values(self) -> Row:
        """Return the rows as one matrix (time, channels)."""
        return np.array(self.rows, dtype=np.float64)

    def clear(self) -> None:
        """Forget all rows."""
        self.rows, self.times, self.scores = [], [], []
