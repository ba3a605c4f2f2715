"""Evidence that blocks of a stream are not exchangeable with the blocks of normal data.

The sorted values of ``n`` normal blocks divide the line into ``n + 1`` intervals. If normal and new
blocks are exchangeable, the chance that the next block falls into an interval is known whatever the
distribution: ``(1 + blocks that fell into it) / (n + 1 + blocks)``. Bets stand against it: that
values are a little, much or wholly higher than normal, or lower; each pays out what it put on an
interval over that chance. A bet may begin with any block: a stake of 1 is divided among the blocks
to come, 1/2 for the first, 1/6 for the second, ``1 / ((t + 1) (t + 2))`` for block ``t``. What the
bets have made on average is a test martingale, up to stakes not yet placed, which are left out. By
Ville's inequality the probability that it ever reaches ``1 / a``, however long the stream is, is at
most ``a``.

The intervals are those of the normal blocks for ever, so a slow change is not learned away.

Beside it, a run (CUSUM) for either side compares the mean of its bets with the chance
``1 / (n + 1)`` alone. It begins anew where it has fallen to 1, which tells since when values are
different, and is held below ``MOST``, so that it falls back within some blocks once values are
normal again. It promises nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from axonad.modelfile import check_counts, check_number

FLOOR = 0.1  # share of each bet that is spread evenly, so that no block takes all of it
MOST = 100.0  # of a run
LARGEST = 1e100  # of what a bet has made
UP, DOWN = 0, 1


@lru_cache(maxsize=256)
def bets(blocks: int) -> tuple[tuple[float, ...], ...]:
    """Return the share that each bet on higher values puts on each of ``blocks + 1`` intervals.

    They are densities 2u, 8u^7 and 64u^63 of the rank u, for small, large and complete shifts, with
    a floor; their mean comes last. Bets on lower values are their mirror images.
    """
    edges = np.arange(blocks + 2) / (blocks + 1)
    powers = [edges * edges]
    for _ in range(2):  # by multiplication, which is the same on every machine
        square = powers[-1] * powers[-1]
        powers.append(square * square)
    powers[2] = powers[2] * powers[2]
    shares = [(1 - FLOOR) * np.diff(power) + FLOOR / (blocks + 1) for power in powers]
    return tuple(tuple(share.tolist()) for share in (*shares, np.mean(shares, axis=0)))


class Evidence:
    """What speaks against one statistic of a stream, block by block.

    Parameters
    ----------
    normal
        Its values in blocks of normal data, sorted.
    sides
        2 to bet on higher and on lower values, 1 for higher ones only.
    """

    def __init__(self, normal: Sequence[float], *, sides: int = 2) -> None:
        self._normal, self._sides = list(normal), sides
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        sides, (*single, _) = self._sides, bets(len(self._normal))
        self.blocks = 0
        self._counts = [0] * (len(self._normal) + 1)
        self._made = [[0.0] * len(single) for _ in range(sides)]
        self._run = [0.0] * sides
        self._start, self._begins = [0] * sides, [None] * sides
        self._total, self._number = [0.0] * sides, [0] * sides
        self._latest = [0.0] * sides  # factor of the last block

    @property
    def value(self) -> float:
        """What the bets have made, on average; at least 1/a with a probability of at most a."""
        return sum(sum(made) / len(made) for made in self._made) / self._sides

    @property
    def side(self) -> int:
        """The bet that has made most: ``UP`` or ``DOWN``."""
        return UP if max(self._made[UP]) >= max(self._made[-1]) else DOWN

    def is_back(self, side: int) -> bool:
        """Whether recent blocks look normal on a side."""
        return self._run[side] <= 1

    def is_rising(self, side: int) -> bool:
        """Whether the last block spoke for the bet on a side."""
        return self._latest[side] > 1

    def since(self, side: int) -> tuple[int, Any]:
        """Return first row and time of the block at which the run of a side began."""
        return self._start[side], self._begins[side]

    def mean(self, side: int) -> float:
        """Return the mean size since then."""
        return self._total[side] / max(1, self._number[side])

    def push(
        self, value: float, *, first: int, begins: Any = None, size: float | None = None
    ) -> None:
        """Add the value of a block that begins with row ``first``; its ``size`` is for people."""
        at, ways = self._interval(value), len(self._counts)
        chance = (1 + self._counts[at]) / (ways + self.blocks)
        stake = 1 / ((self.blocks + 1) * (self.blocks + 2))
        *single, mean = bets(len(self._normal))
        for side in range(self._sides):
            place = at if side == UP else ways - 1 - at
            self._made[side] = [
                min((made + stake) * (bet[place] / chance), LARGEST)
                for made, bet in zip(self._made[side], single, strict=True)
            ]
            if self._run[side] <= 1:
                self._run[side], self._start[side], self._begins[side] = 1.0, first, begins
                self._total[side], self._number[side] = 0.0, 0
            self._latest[side] = mean[place] * ways
            self._run[side] = min(self._run[side] * self._latest[side], MOST)
            self._total[side] += value if size is None else size
            self._number[side] += 1
        self._counts[at] += 1
        self.blocks += 1

    def _interval(self, value: float) -> int:
        """Return the interval of a value; ties are broken by lot, always the same."""
        low, high = bisect_left(self._normal, value), bisect_right(self._normal, value)
        if low == high:
            return low
        return low + bisect_left(_lots(low, high), _lot(2 * self.blocks + 1))

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        return {
            "counts": list(self._counts), "made": [list(made) for made in self._made],
            "run": list(self._run),
            "start": list(self._start), "begins": list(self._begins), "total": list(self._total),
            "number": list(self._number), "latest": list(self._latest),
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        sides = self._sides
        counts = check_counts("counts", state["counts"])
        rows = [check_counts(name, state[name]) for name in ("start", "number")]
        numbers = [
            [check_number(name, value) for value in state[name]]
            for name in ("run", "total", "latest")
        ]
        made = [[check_number("made", value) for value in part] for part in state["made"]]
        begins = list(state["begins"])
        sized: list[list[Any]] = [*rows, *numbers, made, begins]
        if (
            len(counts) != len(self._counts)
            or any(len(part) != sides for part in sized)
            or any(len(part) != len(self._made[0]) for part in made)
        ):
            raise ValueError("its evidence of drift does not fit the normal data of the model")
        run, total, latest = numbers
        if min(*map(min, made), *run, *latest) < 0 or max(run) > MOST:
            raise ValueError(f"its evidence of drift makes no sense: {made!r:.60}")
        self._counts, self.blocks = counts, sum(counts)
        self._start, self._number = rows
        self._made, self._run, self._total, self._latest = made, run, total, latest
        self._begins = begins


def fewest_blocks(blocks: int, *, sides: int, limit: float) -> int:
    """Return after how many blocks beyond all normal ones the evidence reaches a limit."""
    evidence = Evidence(list(range(blocks)), sides=sides)
    while evidence.value < limit and evidence.blocks < blocks:
        evidence.push(float(blocks), first=0)
    return evidence.blocks


@lru_cache(maxsize=4096)
def _lots(low: int, high: int) -> list[float]:
    """Return the lots of normal values that are equal, sorted."""
    return sorted(_lot(2 * place) for place in range(low, high))


def _lot(number: int) -> float:
    """Return a number from 0 to 1, as if drawn, for an integer (splitmix64)."""
    mask = 2**64 - 1
    mixed = (number + 1) * 0x9E3779B97F4A7C15 & mask
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & mask
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & mask
    return (mixed ^ mixed >> 31) / 2**64
