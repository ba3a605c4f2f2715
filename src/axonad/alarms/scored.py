"""Scores as an alarm sees them: only those of windows that a stream would have had.

With ``align="end"`` a detector gives the rows before the end of the first full window the score of
that window. A stream has no score for these rows, and neither has an alarm.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def without_lead(
    scores: NDArray[np.float64], *, lead: int, cuts: Iterable[int] = ()
) -> NDArray[np.float64]:
    """Return the scores with NaN for the first ``lead`` rows of the array and after each cut.

    >>> without_lead(np.arange(6.0), lead=1, cuts=[4])
    array([nan,  1.,  2.,  3., nan,  5.])
    """
    if lead == 0:
        return scores
    found = np.array(scores, dtype=np.float64)
    for start in (0, *cuts):
        found[start : start + lead] = np.nan
    return found
