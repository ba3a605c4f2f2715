"""Which channels may only set the scene: candidates for ``context``, by plain rules.

From several recordings:

- **differs between them**: at least ``BETWEEN`` of a channel's variance lies between the recordings
  and it changes slowly within each: a mean squared step of at most ``SLOW`` of the variance. An
  ambient temperature does; a coolant that warms up in each recording does not.

From each recording alone, and for several from all of them:

- **only rises** or **only falls**: it never turns back and moves in each quarter of the recording,
  by at least ``PART`` of its whole change. Odometers, clocks and burnt fuel do; a coolant that
  reaches its temperature does not.

A single recording cannot tell an ambient temperature from any other slow channel, so nothing else
is said of one. These are suggestions: no channel becomes context by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, Names

BETWEEN = 0.8
SLOW = 1e-3
PART = 0.05
FEWEST = 100  # rows of a recording that says something


@dataclass(frozen=True)
class Candidate:
    """A channel that may only set the scene; ``str()`` says why and what to do about it."""

    channel: str
    why: str

    def __str__(self) -> str:
        return (
            f"{self.channel} {self.why}; if it only sets the scene, name it as context "
            f"(--context {self.channel})"
        )


def find_candidates(recordings: Sequence[Matrix], names: Names) -> tuple[Candidate, ...]:
    """Return the channels of normal recordings (time, channels) that may be context."""
    parts = [np.asarray(part) for part in recordings]
    if not parts or min(map(len, parts)) < FEWEST:
        return ()
    rises = np.all([_rises(part) for part in parts], axis=0)
    falls = np.all([_rises(-part) for part in parts], axis=0)
    differs = _differs(parts)
    found = []
    for i in range(parts[0].shape[1]):
        label = str(i) if names is None else names[i]
        if rises[i] or falls[i]:
            found.append(Candidate(label, f"only {'rises' if rises[i] else 'falls'}"))
        elif differs[i]:
            why = "changes slowly within a recording and differs between them"
            found.append(Candidate(label, why))
    return tuple(found)


def _rises(part: Matrix) -> NDArray[np.bool_]:
    """Return which channels never fall, and rise in each quarter of a recording."""
    quarters = np.linspace(0, len(part) - 1, 5).astype(int)
    moves = np.diff(part[quarters].astype(np.float64), axis=0)
    total = moves.sum(axis=0)
    steady = (moves >= PART * total).all(axis=0) & (total > 0)
    steady[steady] = (np.diff(part[:, steady], axis=0) >= 0).all(axis=0)
    return np.asarray(steady)


def _differs(parts: Sequence[Matrix]) -> NDArray[np.bool_]:
    """Return which channels are slow within recordings and differ between them."""
    channels = parts[0].shape[1]
    if len(parts) < 2:
        return np.zeros(channels, dtype=bool)
    # Each recording counts alike, so that a long one does not hide the others.
    means = np.array([part.mean(axis=0, dtype=np.float64) for part in parts])
    within = np.mean([part.var(axis=0, dtype=np.float64) for part in parts], axis=0)
    steps = [np.square(np.diff(part, axis=0)).mean(axis=0, dtype=np.float64) for part in parts]
    between = means.var(axis=0)
    total = between + within
    slow = np.mean(steps, axis=0) <= SLOW * total
    return np.asarray(slow & (between >= BETWEEN * total) & (total > 0))
