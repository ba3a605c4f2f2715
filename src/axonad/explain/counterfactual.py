"""Would there be an alarm if some channels had been as expected? The detector itself is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from axonad.explain.why import Counterfactual

Array = NDArray[np.float64]
Replaced = tuple[tuple[int, ...], Array]
"""Channels, and the rows with these channels as expected."""

MOST_TRIED = 12


def find_counterfactual(
    candidates: Iterable[Replaced],
    peak_of: Callable[[Array], float],
    *,
    threshold: float,
    before: float,
    names: Sequence[str],
) -> Counterfactual:
    """Return the first set of channels whose replacement keeps all scores below the threshold.

    ``candidates`` come with the smallest sets first. If none does, the lowest score is reported.
    """
    lowest, tried = np.inf, 0
    for channels, rows in candidates:
        if tried == MOST_TRIED:
            break
        tried += 1
        after = peak_of(rows)
        if after <= threshold:
            return Counterfactual(tuple(names[j] for j in channels), True, before, after, tried)
        lowest = min(lowest, after)
    return Counterfactual((), False, before, float(lowest) if tried else before, tried)
