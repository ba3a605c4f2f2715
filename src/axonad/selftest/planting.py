"""Where faults are planted: many in one copy of a recording, too far apart to share a window.

The score of a row depends on ``history`` rows, so a fault in ``[start, end)`` can change the scores
of the rows ``[start, end + history - 1)``, its *response*. Plantings of one copy have responses
that do not overlap: each is found or missed exactly as if it were alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, Names
from axonad.data.scaling import fit_scaler
from axonad.data.timing import find_runs
from axonad.metrics.vus_window import find_period
from axonad.selftest.kinds import SIZELESS, Place, Values, make_change

ATTEMPTS = 200  # places tried for one planting
PERIODS = (16, 256)  # shortest and longest period that is believed, in rows
FEWEST = 5  # rows of the shortest fault
GOLDEN = (5**0.5 - 1) / 2  # multiples of it, modulo 1, are spread evenly


class Wish(NamedTuple):
    """A fault to be planted somewhere."""

    kind: str
    channel: int
    rows: int


@dataclass(frozen=True, eq=False)
class Planting:
    """A fault of one kind in one channel from row ``start`` on; ``change`` is that of size 1."""

    kind: str
    channel: int
    start: int
    change: Values

    @property
    def end(self) -> int:
        """The first row after the fault."""
        return self.start + len(self.change)

    @property
    def is_sized(self) -> bool:
        """Whether the fault can be planted in several sizes."""
        return self.kind not in SIZELESS


def draw_wishes(
    kinds: Sequence[str],
    channels: Sequence[int],
    durations: tuple[int, int],
    repeat: int,
    seed: int,
) -> list[Wish]:
    """Return one wish for each kind and channel.

    Durations are spread evenly, on a logarithmic scale, over the repeats of a kind and channel.
    """
    shortest, longest = durations
    offsets = np.random.default_rng([seed, 0]).random((len(kinds), len(channels)))
    places = (offsets + repeat * GOLDEN) % 1.0
    rows = np.round(shortest * (longest / shortest) ** places).astype(int)
    return [
        Wish(kind, channel, int(rows[i, j]))
        for i, kind in enumerate(kinds)
        for j, channel in enumerate(channels)
    ]


class Ground:
    """A recording to plant faults into.

    Parameters
    ----------
    values
        Array (time, channels) of finite values.
    stretches
        Runs of rows without a gap between them.
    history
        Rows a score needs.
    quiet
        Rows whose scores a fault may change; None for all.
    """

    def __init__(
        self,
        values: Matrix,
        stretches: Sequence[slice],
        *,
        history: int,
        quiet: NDArray[np.bool_] | None = None,
        names: Names = None,
    ) -> None:
        self.values, self.history = values, history
        self.used = np.concatenate([values[part] for part in stretches])
        self._longest = max(stretches, key=lambda part: part.stop - part.start)
        scaler = fit_scaler(self.used, "soft", names)
        self.units, self.still = scaler.unit, scaler.still
        self.centres = np.median(self.used, axis=0)
        self._reach = max(history, 2) - 1  # one more row on both sides, to join courses to
        self._low, self._high = np.zeros((2, len(values)), dtype=np.int64)
        for part in stretches:
            self._low[part], self._high[part] = part.start, part.stop
        self._room = self._find_room(stretches, quiet)

    @property
    def longest(self) -> int:
        """Rows of the longest fault that can be planted; below 1 if there is room for none."""
        return int(self._room.max()) - self._reach

    def period(self) -> int:
        """Return the main period of the longest stretch: the median over channels that move."""
        rows = self.values[self._longest]
        found = [find_period(rows[:, i]) for i in np.flatnonzero(~self.still)]
        return int(np.clip(np.median(found), *PERIODS)) if found else PERIODS[0]

    def lay_out(self, wishes: Sequence[Wish], rng: np.random.Generator) -> list[list[Planting]]:
        """Return copies of the recording as lists of plantings in order of time.

        A wish for which no place is found is left out.
        """
        waiting = [(wishes[i], ATTEMPTS) for i in rng.permutation(len(wishes)).tolist()]
        starts = np.flatnonzero(self._room > self._reach)
        copies: list[list[Planting]] = [[]]
        if len(starts) == 0:
            return []
        row = int(rng.choice(starts))
        while waiting:
            at = int(np.searchsorted(starts, row))
            if at == len(starts):
                copies.append([])
                row = int(rng.integers(self._hop))
                continue
            row = int(starts[at])
            found, waiting = self._first_that_fits(waiting, row, rng)
            if found is not None:
                copies[-1].append(found)
                row = found.end + self._reach
            else:
                row += 1 + int(rng.integers(self._hop))
        return [copy for copy in copies if copy]

    @property
    def _hop(self) -> int:
        return 2 * self._reach + FEWEST

    def _first_that_fits(
        self, waiting: list[tuple[Wish, int]], row: int, rng: np.random.Generator
    ) -> tuple[Planting | None, list[tuple[Wish, int]]]:
        """Return the first wish that fits at a row, and the wishes that still wait."""
        passed: list[tuple[Wish, int]] = []
        for i, (wish, attempts) in enumerate(waiting):
            planting = self._try(wish, row, rng)
            if planting is not None:
                return planting, passed + waiting[i + 1 :]
            if attempts > 1:
                passed.append((wish, attempts - 1))
        return None, passed

    def _try(self, wish: Wish, row: int, rng: np.random.Generator) -> Planting | None:
        if self._room[row] < wish.rows + self._reach:
            return None
        place = Place(
            column=self.values[:, wish.channel],
            start=row,
            end=row + wish.rows,
            low=int(self._low[row]),
            high=int(self._high[row]),
            unit=float(self.units[wish.channel]),
            centre=float(self.centres[wish.channel]),
        )
        change = make_change(wish.kind, place, rng)
        return None if change is None else Planting(wish.kind, wish.channel, row, change)

    def _find_room(
        self, stretches: Sequence[slice], quiet: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Return how many rows from each row on a response may cover."""
        free = np.zeros(len(self.values), dtype=bool)
        for part in stretches:
            free[part.start + self._reach : part.stop] = True
        if quiet is not None:
            free &= quiet
        room = np.zeros(len(free), dtype=np.int64)
        for start, end in find_runs(free):
            room[start:end] = np.arange(end - start, 0, -1)
        return room
