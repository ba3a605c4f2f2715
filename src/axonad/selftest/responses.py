"""What a detector makes of planted faults: the scores of the rows that each of them can change.

Scores are those of windows that end at a row, as a live stream has them: at that row an alarm is
known. Only rows that a fault can change are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from axonad.data.frames import Matrix
from axonad.selftest.kinds import Values
from axonad.selftest.planting import Planting

ScoreEnds = Callable[[Matrix], Values]
"""Scores of an array: one for each row that has its full history."""

Sized = tuple[Planting, float]
"""A planting and its size; those without sizes have 1."""

LONGEST = 2_048  # rows scored at a time: bounds memory, and lets a progress bar move
JOINED = 64  # plantings at most this many unaffected rows apart are scored together


def find_responses(
    score_ends: ScoreEnds,
    X: Matrix,
    plantings: Sequence[Sized],
    *,
    history: int,
    whole: bool = False,
) -> list[Values]:
    """Return for each planting of one copy the scores of the rows ``[start, end + history - 1)``.

    Parameters
    ----------
    score_ends
        Scores rows as :meth:`axonad.Detector.score_ends` does.
    X
        The clean recording; it is not changed.
    plantings
        Faults of one copy in order of time, with their sizes.
    history
        Rows a score needs.
    whole
        Score the whole copy, for detectors whose scores depend on rows outside of the window.
    """
    responses = []
    groups = [plantings] if whole else _groups(plantings, history)
    for group in groups:
        first = 0 if whole else group[0][0].start - history + 1
        last = len(X) if whole else group[-1][0].end + history - 1
        scores = score_ends(plant(X, group, first=first, last=last))
        for planting, _ in group:
            begin = planting.start - first - history + 1  # the first score has a full history
            responses.append(scores[begin : begin + planting.end - planting.start + history - 1])
    return responses


def plant(X: Matrix, plantings: Sequence[Sized], *, first: int, last: int) -> Values:
    """Return a copy of the rows ``[first, last)`` of ``X`` with faults planted."""
    rows = np.array(X[first:last], dtype=np.float64)
    for planting, size in plantings:
        change = size * planting.change
        rows[planting.start - first : planting.end - first, planting.channel] += change
    return rows


def _groups(plantings: Sequence[Sized], history: int) -> Iterator[list[Sized]]:
    """Yield neighbouring plantings that are scored in one go."""
    group: list[Sized] = []
    for sized in plantings:
        if group:
            is_far = sized[0].start - group[-1][0].end - history + 1 > JOINED
            if is_far or sized[0].end + history - group[0][0].start > LONGEST:
                yield group
                group = []
        group.append(sized)
    if group:
        yield group
