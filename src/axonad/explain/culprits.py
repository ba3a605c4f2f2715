"""Which channels are to blame: the fewest without which the others agree with each other.

A faulty channel also spoils the predictions of the channels that are predicted from it, so the
channel with the largest residual is often a healthy one. Therefore channels are left out: with the
faulty ones gone, each of the others is predicted as well as in training. A set of channels is
judged by what remains: the sum over the other channels of the logarithm of their squared residual
in units of what is usual. The search enlarges the most promising sets of each size. Channels that
are closely tied hide each other's faults, so they are also tried together. What a channel deviates
by already before the event, such as a temperature in another season, is not held against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from axonad.explain.relations import WIDTHS, Relations, power_before

Array = NDArray[np.float64]
Set = tuple[int, ...]

LARGEST = 4  # channels of a set
EXPANDED = 12  # sets that are enlarged
MOST_SETS, FEWEST_SETS = 300, 80  # sets tried; fewer with more features, which take longer
USUAL_FEATURES = 300
SWAPPED = 4  # channels that may take the place of one in the best set
HINTS = 4  # channels blamed by the detector itself that are always tried
CONTENT = 0.3  # contradiction left at which the search ends
FIRST, LATER = 24, 8  # channels tried alone, and beside others
PAIRED = 6  # channels of which all pairs are tried
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

    def __init__(
        self,
        relations: Relations,
        features: Array,
        *,
        before: Array | None = None,
        never: Sequence[int] = (),
    ) -> None:
        step = max(1, len(features) // MOST_ROWS)
        self._relations, self._features = relations, features[::step]
        self._before = before
        share = min(1.0, USUAL_FEATURES / relations.features.count)
        self._most = max(FEWEST_SETS, int(MOST_SETS * share**2))
        widths = np.abs(np.log(np.array(WIDTHS) / max(len(features), 1)))
        self._width = int(np.argmin(widths))
        self._never = list(never)
        self._known: dict[Set, Array] = {}

    def excess(self, left_out: Set) -> Array:
        """Return how much each channel contradicts the others, without some of them."""
        key = tuple(sorted(left_out))
        if key not in self._known:
            found = self._relations.residuals(key)
            usual = np.maximum(found.usual[self._width], power_before(found.map, self._before))
            power = np.square(self._features @ found.map).mean(axis=0) / usual
            excess = np.maximum(np.log(np.maximum(power, 1e-9)), 0.0) * self._relations.weights
            excess[[*key, *self._never]] = 0.0
            self._known[key] = excess
        return self._known[key]

    def run(self, hints: Sequence[int] = ()) -> Blamed:
        """Return the channels to blame; ``hints`` are always tried."""
        hints = [j for j in hints if j not in self._never][:HINTS]
        tried: dict[Set, float] = {(): self._cost(())}
        self._try(tried, self._enlarged((), hints))
        enlarged: set[Set] = set()
        for turn in range(EXPANDED):  # the best set of one channel, of two, of three, of one, ...
            best = self._best(tried)
            if tried[best] <= COST * max(len(best), 1) + CONTENT:
                break
            waiting = [made for made in tried if len(made) == turn % (LARGEST - 1) + 1]
            waiting = [made for made in waiting if made not in enlarged]
            if waiting:
                known = min(waiting, key=lambda made: (tried[made], made))
                enlarged.add(known)
                self._try(tried, self._enlarged(known, hints))
        chosen = self._polished(tried)
        return Blamed(*self._ordered(chosen), float(self.excess(chosen).sum()), tried[()])

    def _polished(self, tried: dict[Set, float]) -> Set:
        """Return the best set after leaving out or exchanging single channels while that helps."""
        for _ in range(LARGEST):
            best = self._best(tried)
            left = [tuple(k for k in best if k != j) for j in best]
            order = np.argsort(-self.excess(best) - self.excess(()), kind="stable")[:SWAPPED]
            others = [j for j in order.tolist() if j not in best and j not in self._never]
            self._try(tried, left + [tuple(sorted((*part, j))) for part in left for j in others])
            if self._best(tried) == best:
                break
        return self._best(tried)

    def _try(self, tried: dict[Set, float], sets: list[Set]) -> None:
        for made in sets:
            if made not in tried and len(tried) < self._most:
                tried[made] = self._cost(made)

    def _best(self, tried: dict[Set, float]) -> Set:
        return min(tried, key=lambda made: (tried[made], len(made), made))

    def _cost(self, left_out: Set) -> float:
        return float(self.excess(left_out).sum()) + COST * len(left_out)

    def _enlarged(self, known: Set, hints: Sequence[int]) -> list[Set]:
        """Return larger sets: with one more channel, and with those it is most closely tied to."""
        excess = self.excess(known)
        most = LATER if known else FIRST
        order = np.argsort(-excess, kind="stable")[:most].tolist()
        wanted = [j for j in order if excess[j] > 0]
        wanted += [j for j in hints if wanted and j not in wanted]
        made = []
        for j in wanted:
            tied = [k for k in self._relations.tied_to(j) if k not in self._never]
            groups = [(), *((k,) for k in tied), tuple(tied[:2])]
            made += [tuple(sorted({*known, j, *group})) for group in groups]
        made += [] if known else list(combinations(sorted(wanted[:PAIRED]), 2))
        return [larger for larger in dict.fromkeys(made) if len(known) < len(larger) <= LARGEST]

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
