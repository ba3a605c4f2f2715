"""Which channels are to blame: the fewest without which the others agree with each other.

A faulty channel also spoils the predictions of the channels that are predicted from it, so the
channel with the largest residual is often a healthy one. Therefore channels are left out: with the
faulty ones gone, each of the others is predicted as well as in training. A set of channels is
judged by what remains: the sum over the other channels of the logarithm of their squared residual
in units of what is usual. The search enlarges the most promising sets first. Channels that are
closely tied hide each other's faults, so they are also tried together.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axonad.explain.relations import WIDTHS, Relations

Array = NDArray[np.float64]
Set = tuple[int, ...]

LARGEST = 4  # channels of a set
EXPANDED = 12  # sets that are enlarged
FIRST, LATER = 24, 8  # channels tried alone, and beside others
COST = 2.0  # what a set must gain by one more channel
MOST_ROWS = 400  # rows looked at, about
CAP = 10.0  # the deviation of one row counts no more than this
QUIET = 1.5  # deviation of a row that is not part of a fault
PAUSE = 30  # rows without contradiction that end a fault


@dataclass(frozen=True)
class Blamed:
    """Channels to blame, most first, and the other channels in order of suspicion.

    ``rest`` is how much the others contradict each other without them; ``all`` the same with them.
    """

    channels: Set
    others: Set
    rest: float
    all: float


def find_rows(ratios: Array, near: slice) -> tuple[int, int] | None:
    """Return the consecutive rows with the largest sum of what exceeds the usual; None if none do.

    ``ratios`` is how much each row deviates, in units that normal rows seldom exceed. Some of the
    rows lie in ``near``; from there the fault is followed to both sides.

    >>> find_rows(np.array([0.0, 9.0, 1.0, 9.0, 0.0]), slice(2, 5))
    (1, 4)
    """
    strength = np.minimum(ratios, CAP) - QUIET
    total = np.concatenate([[0.0], np.cumsum(strength[near])])
    gained = total - np.minimum.accumulate(total)
    stop = int(np.argmax(gained))
    if gained[stop] <= 0.0:
        return None
    first = near.start + int(np.argmin(total[: stop + 1]))
    stop += near.start
    return first - _follow(strength[:first][::-1]), stop + _follow(strength[stop:])


def _follow(strength: Array) -> int:
    """Return for how many rows a fault goes on: up to the largest sum before a long pause."""
    total = np.cumsum(strength)
    low = np.flatnonzero(total < np.maximum.accumulate(np.maximum(total, 0.0)) - QUIET * PAUSE)
    reached = total[: low[0]] if len(low) else total
    if len(reached) == 0 or reached.max() <= 0.0:
        return 0
    return int(np.argmax(reached)) + 1


class Search:
    """The search for the channels to blame in some rows of an event."""

    def __init__(self, relations: Relations, features: Array, *, never: Sequence[int] = ()) -> None:
        step = max(1, len(features) // MOST_ROWS)
        self._relations, self._features = relations, features[::step]
        widths = np.abs(np.log(np.array(WIDTHS) / max(len(features), 1)))
        self._width = int(np.argmin(widths))
        self._never = list(never)
        self._known: dict[Set, Array] = {}

    def excess(self, left_out: Set) -> Array:
        """Return how much each channel contradicts the others, without some of them."""
        key = tuple(sorted(left_out))
        if key not in self._known:
            found = self._relations.residuals(key)
            power = np.square(self._features @ found.map).mean(axis=0) / found.usual[self._width]
            excess = np.maximum(np.log(np.maximum(power, 1e-9)), 0.0) * self._relations.weights
            excess[[*key, *self._never]] = 0.0
            self._known[key] = excess
        return self._known[key]

    def run(self, hints: Sequence[int] = ()) -> Blamed:
        """Return the channels to blame; ``hints`` are always tried."""
        everything = self._cost(())
        tried: dict[Set, float] = {(): everything}
        waiting: list[tuple[float, Set]] = [(everything, ())]
        for _ in range(EXPANDED):
            if not waiting or min(tried.values()) <= COST:  # a larger set cannot be better
                break
            known = heapq.heappop(waiting)[1]
            for made in self._enlarged(known, hints):
                if made not in tried:
                    tried[made] = self._cost(made)
                    if len(made) < LARGEST:
                        heapq.heappush(waiting, (tried[made], made))
        chosen = min(tried, key=lambda made: (tried[made], len(made), made))
        return Blamed(*self._ordered(chosen), float(self.excess(chosen).sum()), everything)

    def _cost(self, left_out: Set) -> float:
        return float(self.excess(left_out).sum()) + COST * len(left_out)

    def _enlarged(self, known: Set, hints: Sequence[int]) -> list[Set]:
        """Return larger sets: with one more channel, and with those it is most closely tied to."""
        excess = self.excess(known)
        most = LATER if known else FIRST
        order = np.argsort(-excess, kind="stable")[:most].tolist()
        wanted = [j for j in order if excess[j] > 0]
        wanted += [j for j in hints if wanted and j not in wanted and j not in self._never]
        made = []
        for j in wanted:
            tied = [k for k in self._relations.tied_to(j) if k not in self._never]
            for size in range(3):
                larger = tuple(sorted({*known, j, *tied[:size]}))
                if len(known) < len(larger) <= LARGEST:
                    made.append(larger)
        return list(dict.fromkeys(made))

    def _ordered(self, chosen: Set) -> tuple[Set, Set]:
        """Return the chosen channels, worst first, and the others by suspicion."""

        def without(j: int) -> float:
            return float(self.excess(tuple(k for k in chosen if k != j)).sum())

        ranked = sorted(chosen, key=lambda j: -without(j))
        alone = self.excess(())

        def gain(j: int) -> tuple[float, float]:
            known = self._known.get((j,))
            return (float(known.sum()) if known is not None else np.inf, -float(alone[j]))

        others = [j for j in range(len(alone)) if j not in chosen and j not in self._never]
        return tuple(ranked), tuple(sorted(others, key=gain))
