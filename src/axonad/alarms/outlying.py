"""Events of calibration data that lie far above the rest of it: perhaps faults nobody noticed.

The rule: all calibration data is cut into blocks of equal length. Each block has a highest score,
taken as its distance above the usual score. Let Q1 and Q3 be the quartiles of these distances over
all blocks. A score further than Q3 · (Q3 / Q1)³ above the usual one is outlying: that is Tukey's
fence for far-out values, the upper quartile plus three interquartile ranges, on a logarithmic
scale, since the highest scores of normal data differ by factors. Runs of outlying scores are joined
to events by the policy's gaps. If more than a quarter of the blocks hold faults, the rule is blind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.event import AlarmEvent
from axonad.alarms.finder import EventFinder
from axonad.alarms.policy import AlarmPolicy

BLOCKS = 100  # into which the calibration data is cut, if they are long enough
FEWEST = 12  # with fewer blocks nothing can be said
ROWS = 20  # shortest block
FENCE = 3.0  # interquartile ranges above the upper quartile

Scored = tuple[NDArray[np.float64], tuple[int, ...], NDArray[Any] | None]
"""Scores, cuts and times of a recording."""


def find_outlying(
    recordings: Sequence[Scored], policy: AlarmPolicy, *, level: float
) -> list[tuple[int, AlarmEvent]]:
    """Return the outlying events, each with the number of its recording."""
    bound = fence([scores for scores, _, _ in recordings], level=level)
    if bound is None:
        return []
    rule = replace(
        policy, start=bound, end=None, level=min(level, bound), min_duration=1, rise=0.0, pace=0.0
    )
    found = []
    for i, (scores, cuts, times) in enumerate(recordings):
        finder = EventFinder(rule)
        changes = finder.add(scores, cuts=cuts, times=times) + finder.finish()
        found += [(i, change.event) for change in changes if change.what == "final"]
    return found


def fence(scores: Sequence[NDArray[np.float64]], *, level: float) -> float | None:
    """Return the score above which events are outlying; None if there is too little data."""
    known = [part[np.isfinite(part)] for part in scores]
    rows = max(ROWS, sum(map(len, known)) // BLOCKS)
    highest = [
        float(part[at : at + rows].max())
        for part in known
        for at in range(0, len(part) - rows + 1, rows)
    ]
    distances = np.array(highest) - level
    if len(distances) < FEWEST:
        return None
    low, high = np.quantile(distances, [0.25, 0.75])
    if low <= 0:
        return None
    with np.errstate(over="ignore"):
        bound = float(level + high * (high / low) ** FENCE)
    return bound if math.isfinite(bound) else None
