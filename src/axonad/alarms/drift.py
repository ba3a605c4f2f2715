"""Drift: the verdict that data no longer looks like training, row by row.

A drift is an event of class ``drift``, beside the score. It begins when the evidence of one
statistic (:mod:`axonad.alarms.drift_evidence`) reaches the limit of the reference, which on normal
data ever happens in at most 1 of 100 streams, if blocks of normal and new data are exchangeable. It
starts where the values became different. It lists the channels that have shifted: ``k`` statistics
whose evidence is at least the limit over ``k``, of which on average at most a share ``alpha`` is
wrong (Benjamini and Hochberg's procedure for such evidence). It ends when the recent blocks of all
of them look like normal data again; then the test begins anew.

No block spans a gap in time; the evidence goes on after it. The same rows give the same drifts at
once, in chunks, live, and after a restart from saved state.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.drift_blocks import RELATION, SPREAD, Sums, read_size, read_statistic
from axonad.alarms.drift_evidence import Evidence
from axonad.alarms.drift_reference import DriftReference, Statistic
from axonad.alarms.drift_state import OpenDrift, read_drift, read_interval
from axonad.alarms.drift_words import Shift, describe, order
from axonad.alarms.event import DRIFT, AlarmEvent, Change
from axonad.alarms.waiting_rows import WaitingRows
from axonad.data.frames import Names
from axonad.errors import ModelFileError

KEPT = 100  # drifts that are remembered to mark events

Values = NDArray[np.float64]


class DriftWatch:
    """Watches the rows of one stream or series for drift.

    Parameters
    ----------
    reference
        What normal data looks like.
    names
        Names of the channels, None if they have no names.
    vehicle
        Vehicle of the events, in a fleet.
    """

    def __init__(
        self, reference: DriftReference, *, names: Names = None, vehicle: str | int | None = None
    ) -> None:
        self.reference, self.vehicle = reference, vehicle
        self.row = 0
        """Number of rows seen."""
        self._names = names
        self._columns = reference.units.columns
        self._block = Sums(self._columns)
        self._waiting = WaitingRows()  # the last rows, not yet in the block
        sizes = sorted({one.size for one in reference.statistics})
        self._longer = {size: Sums(self._columns) for size in sizes}
        self._evidence = [
            Evidence(one.normal, sides=reference.sides(one)) for one in reference.statistics
        ]
        self._count = 0
        self._open: OpenDrift | None = None
        self._last: Any = None  # time of the last row
        self._held: list[list[int | None]] = []  # rows from which and before which drift held

    @property
    def event(self) -> AlarmEvent | None:
        """The drift that has not ended."""
        return None if self._open is None else self._made("firing")

    def push(self, values: Values, score: float, *, time: Any = None) -> list[Change]:
        """Add a row, with NaN for what is missing; return what happened.

        ``values`` must not be changed later.
        """
        self._waiting.add(values, time=time, score=score)
        self.row, self._last = self.row + 1, time
        if self._block.rows + len(self._waiting) == self.reference.base:
            self._sum_up()
            return self._complete()
        if self._waiting.is_full:
            self._sum_up()
        return []

    def push_many(
        self,
        values: NDArray[Any],
        scores: Values,
        *,
        times: Sequence[Any] | NDArray[Any] | None = None,
        cuts: Iterable[int] = (),
    ) -> list[Change]:
        """Add many rows (time, channels) and their scores; no block spans a cut."""
        self._sum_up()
        changes, at = list[Change](), 0
        walls = [*sorted({cut for cut in cuts if 0 <= cut < len(values)}), len(values)]
        while at < len(values):
            if at == walls[0]:
                self.cut()
                walls.pop(0)
            stop = min(at + self.reference.base - self._block.rows, walls[0])
            rows = np.asarray(values[at:stop], dtype=np.float64)
            units = self.reference.units.convert(rows, scores[at:stop])
            self._block.add(units, row=self.row, time=None if times is None else times[at])
            self.row += stop - at
            self._last = None if times is None else times[stop - 1]
            if self._block.rows == self.reference.base:
                changes += self._complete()
            at = stop
        return changes

    def cut(self) -> None:
        """Forget the rows of blocks that are not complete, as where time has a gap."""
        self._sum_up()
        self._block.clear()
        for block in self._longer.values():
            block.clear()

    def finish(self) -> list[Change]:
        """End with the last row; a drift that goes on is final and still ``firing``."""
        return [] if self._open is None else [self._end("final", "firing")]

    def holds(self, start: int, end: int) -> bool:
        """Return whether drift was known to hold in one of the rows ``[start, end)``."""
        return any(
            first is not None and first < end and (after is None or after > start)
            for first, after in self._held
        )

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        self._sum_up()
        return {
            "reference": self.reference.key,
            "row": self.row,
            "count": self._count,
            "last": self._last,
            "block": self._block.state(),
            "longer": [block.state() for block in self._longer.values()],
            "evidence": [one.state() for one in self._evidence],
            "open": None if self._open is None else self._open.to_json(),
            "held": [list(pair) for pair in self._held],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        if state["reference"] != self.reference.key:
            raise ModelFileError(
                "the state was saved with another reference of drift; use the model it was saved "
                "with, or begin a new state"
            )
        row, count = state["row"], state["count"]
        if any(type(value) is not int or value < 0 for value in (row, count)):
            raise ValueError(f"its row and count must be integers of at least 0, got {row, count}")
        base, columns = self.reference.base, self._columns
        block = Sums.restored(state["block"], columns=columns, most=base)
        longer = {
            size: Sums.restored(saved, columns=columns, most=base * size)
            for size, saved in zip(self._longer, state["longer"], strict=True)
        }
        held = [read_interval(pair, row=row) for pair in state["held"]]
        saved = state["open"]
        drift = None if saved is None else read_drift(saved, row=row, reference=self.reference)
        if (drift is not None) != (bool(held) and held[-1][1] is None) or len(held) > KEPT:
            raise ValueError("its drifts contradict each other")
        for one, saved in zip(self._evidence, state["evidence"], strict=True):
            one.restore(saved)
        self.row, self._count, self._last = row, count, state["last"]
        self._block, self._longer = block, longer
        self._waiting.clear()
        self._open, self._held = drift, held

    def _sum_up(self) -> None:
        """Add the rows that wait to the block, which they do not go beyond."""
        waiting = self._waiting
        if len(waiting):
            units = self.reference.units.convert(waiting.values(), np.array(waiting.scores))
            self._block.add(units, row=self.row - len(waiting), time=waiting.times[0])
            waiting.clear()

    def _complete(self) -> list[Change]:
        """Judge the statistics whose block is complete."""
        block, self._block = self._block, Sums(self._columns)
        for size, longer in self._longer.items():
            longer.join(block)
            if longer.rows < size * self.reference.base:
                continue
            summary = longer.summary()
            for one, evidence in zip(self.reference.statistics, self._evidence, strict=True):
                if one.size != size:
                    continue
                value = float(read_statistic(summary, what=one.what, column=one.column))
                if not math.isnan(value):
                    shift = read_size(summary, what=one.what, column=one.column)
                    evidence.push(value, first=longer.first, begins=longer.begins, size=shift)
            longer.clear()
        return self._judge()

    def _judge(self) -> list[Change]:
        """Begin a drift, add what has shifted to it, or end it."""
        changes = list[Change]()
        if self._open is None:
            limit = self.reference.limit
            if not any(one.value >= limit and not one.is_back(one.side) for one in self._evidence):
                return changes
            self._count += 1
            self._open = OpenDrift(self._count, self.row - 1, self.row - 1, self._last, {})
            self._held = [*self._held, [self.row - 1, None]][-KEPT:]
            self._update()
            changes.append(Change("fired", self.row - 1, self._made("firing")))
        else:
            self._update()
        if all(self._evidence[i].is_back(side) for i, (side, _) in self._open.shifts.items()):
            changes.append(Change("resolved", self.row - 1, self._made("resolved")))
            changes.append(self._end("final", "resolved"))
            for one in self._evidence:
                one.reset()
        return changes

    def _update(self) -> None:
        """Add the statistics that have shifted to the open drift, with the sizes of the shifts."""
        drift = self._open
        if drift is None:
            return
        enough = _enough([one.value for one in self._evidence], self.reference.limit)
        for i, one in enumerate(self._evidence):
            side = drift.shifts[i][0] if i in drift.shifts else one.side
            is_new = i not in drift.shifts and one.value >= enough
            if (is_new and not one.is_back(side)) or (i in drift.shifts and one.is_rising(side)):
                drift.shifts[i] = side, _size(self.reference.statistics[i], one.mean(side))
                start, begins = one.since(side)
                if is_new and start < drift.start and self.row - 1 == drift.fired:
                    drift.start, drift.begins = start, begins

    def _end(self, what: str, status: str) -> Change:
        event = self._made(status)
        self._held[-1][1], self._open = self.row, None
        return Change(what, max(self.row - 1, 0), event)

    def _made(self, status: str) -> AlarmEvent:
        drift, reference = self._open, self.reference
        if drift is None:
            raise ValueError("there is no drift")
        shifts = []
        for i, (side, size) in sorted(drift.shifts.items()):
            one = reference.statistics[i]
            unit = np.append(reference.units.scale, 1.0)[one.column]
            name = self._name(one.column)
            shifts.append(Shift(one.what, one.column, side, size, name, float(unit)))
        channels = order(shifts, score=reference.channels)
        return AlarmEvent(
            drift.start, self.row, drift.fired, math.nan, channels,
            number=drift.number, fired=drift.fired, rows=self.row - drift.start, kind=DRIFT,
            reason=describe(shifts, judged=len(reference.judged), score=reference.channels),
            status=status, vehicle=self.vehicle, begins=drift.begins, ends=self._last,
        )  # fmt: skip

    def _name(self, column: int) -> str:
        if column == self.reference.channels:
            return "score"
        return str(column) if self._names is None else self._names[column]


def _enough(evidence: list[float], limit: float) -> float:
    """Return the least evidence of a shift: the limit over the most statistics that have it."""
    ordered = sorted(evidence, reverse=True)
    counts = [k for k, value in enumerate(ordered, start=1) if value * k >= limit]
    return limit / max(counts, default=1)


def _size(one: Statistic, mean: float) -> float:
    """Return how far a mean lies from normal blocks: a difference, or a ratio of deviations."""
    middle = one.normal[len(one.normal) // 2]
    if one.what != SPREAD:
        return mean if one.what == RELATION else mean - middle
    return min(math.sqrt(mean / middle), 1e6) if middle > 0 else 1e6
