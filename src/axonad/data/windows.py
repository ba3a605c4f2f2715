"""Windows of a series: their number, and the step that gets the score of a window.

A window starts at every row (stride 1), so n rows have n - window + 1 windows. The alignment says
which step gets the score of a window, here for the whole package:

- ``"end"``: its last row, as on a stream.
- ``"center"``: its middle row, with ``ceil((window - 1) / 2)`` rows of the window before it and
  ``floor((window - 1) / 2)`` after it, as in TSB-AD.

Earlier steps get the score of the first window, later steps that of the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.errors import InputError

ALIGNMENTS = ("center", "end")


def count_windows(rows: int, window: int) -> int:
    """Return the number of windows in ``rows`` rows; raise ``InputError`` if there is none.

    >>> count_windows(100, 100)
    1
    """
    if rows < window:
        raise InputError(f"window must be at most the series length {rows}, got {window}")
    return rows - window + 1


def place(window: int, align: str) -> int:
    """Return the row of a window that gets its score.

    >>> place(100, "center"), place(100, "end")
    (50, 99)
    """
    return window - 1 if align == "end" else -(-(window - 1) // 2)


def spread(scores: NDArray[Any], *, window: int, align: str) -> NDArray[Any]:
    """Return one value per step, given one value per window (first axis).

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
