"""Windows over a series: how many, and how window scores become one score per step.

A window is ``window`` consecutive rows; windows start at every row (stride 1), so a series of n
rows has n - window + 1 of them. They are always gathered from the series batch by batch; nobody
builds an array of all windows.

Alignment, stated once for the whole package:

- ``"end"``: a window's score belongs to its last row. What a live system sees.
- ``"center"``: a window's score belongs to its middle row, with ``ceil((window - 1) / 2)`` rows
  before the first such row and ``floor((window - 1) / 2)`` after the last (TSB-AD's convention).

Steps before the first full window get the first window's score; steps behind the last aligned
one get the last window's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.errors import InputError

ALIGNMENTS = ("center", "end")


def count_windows(rows: int, window: int) -> int:
    """Return how many windows a series of ``rows`` rows has; refuse a series shorter than one.

    >>> count_windows(100, 100)
    1
    """
    if rows < window:
        raise InputError(f"window must be at most the series length {rows}, got {window}")
    return rows - window + 1


def place(window: int, align: str) -> int:
    """Return which row of a window its score belongs to.

    >>> place(100, "center"), place(100, "end")
    (50, 99)
    """
    return window - 1 if align == "end" else -(-(window - 1) // 2)


def spread(scores: NDArray[Any], *, window: int, align: str) -> NDArray[Any]:
    """Return one value per step from one value per window (first axis).

    >>> spread(np.array([1.0, 2.0]), window=4, align="center").tolist()
    [1.0, 1.0, 1.0, 2.0, 2.0]
    >>> spread(np.array([1.0, 2.0]), window=4, align="end").tolist()
    [1.0, 1.0, 1.0, 1.0, 2.0]
    """
    front = place(window, align)
    behind = window - 1 - front
    return np.concatenate(
        [np.repeat(scores[:1], front, axis=0), scores, np.repeat(scores[-1:], behind, axis=0)]
    )
