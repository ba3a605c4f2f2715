"""Scores as an alarm sees them: those that a stream would have had at that row.

They are placed at the end of their windows, so that files and streams have the same events. With
``align="end"`` a detector gives the rows before the end of the first full window the score of that
window. A stream has no score for these rows, and neither has an alarm.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from axonad.errors import DataWarning

if TYPE_CHECKING:
    from axonad.alarmed import Alarmed
    from axonad.explanation import Explanation

AnyDetector = TypeVar("AnyDetector", bound="Alarmed")


def placed_at_end(detector: AnyDetector) -> AnyDetector:
    """Return the detector, or a copy of it, whose scores are placed at the end of windows."""
    if "align" not in detector.changeable or detector.scores_at_end:
        return detector
    return copy(detector).set_params(align="end")


def explained_at_end(detector: Alarmed, X: Any, found: Explanation) -> Explanation:
    """Return the result of ``explain`` as alarms judge it: ``found``, or made again at the end.

    What is odd about the data was said when ``found`` was made and is not said again.
    """
    if found.at_end:
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return placed_at_end(detector).explain(X)


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
