"""The state machine of alarms: scores in, events out, row by row.

    nothing → pending → firing → resolved → final

- **pending**: scores are above ``start``. One row that is not ends it without an event.
- **firing**: ``min_duration`` consecutive rows were above ``start``. The event goes on while scores
  are above ``end``, and ``keep_firing`` rows longer.
- **resolved**: it no longer fires. If another event begins within ``merge_gap`` rows, or within
  ``cause_gap`` rows with the same channel blamed most, both are one event, which is reopened.
- **final**: nothing can change the event any more.

A row without a score (NaN: the window is not full) and a cut (a gap in time) end what is pending or
firing, and the event is final at once: no event spans rows that nobody could judge.

Both thresholds are lifted while scores stay high, see :mod:`axonad.alarms.following`. Rows without
a score and cuts leave the lift as it is. Peak and severity of an event are by its scores as they
are.

What the machine does with a row depends on the rows before alone. So the same rows give the same
events at once, in chunks, live, and after a restart from :meth:`AlarmMachine.state`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.event import AlarmEvent, Change
from axonad.alarms.following import Lift
from axonad.alarms.machine_state import MachineState, read_state
from axonad.alarms.marks import Marks
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.run import Blame, Run
from axonad.errors import UnknownNameError

TOP = 4  # channels listed

Vehicle = str | int | None


class AlarmMachine:
    """Follows the scores of one stream or series.

    Parameters
    ----------
    policy
        What starts and ends an event.
    names
        Names of the channels; None if they have none, then they are numbered.
    top
        Most channels an event lists.
    vehicle
        Whose events these are.
    """

    def __init__(
        self,
        policy: AlarmPolicy,
        *,
        names: Sequence[str] | None = None,
        top: int = TOP,
        vehicle: Vehicle = None,
    ) -> None:
        self.policy, self.vehicle = policy, vehicle
        self.row = 0
        """Number of rows seen."""
        self._names, self._top = None if names is None else tuple(names), top
        self._pending: Run | None = None
        self._event: Run | None = None  # firing, or resolved and not final
        self._firing = False
        self._count = 0
        self._marks = Marks(self._names)
        self._lift = Lift(policy)

    # -- rows ----------------------------------------------------------------------------------

    def push(
        self, score: float, *, blame: Callable[[], Blame] | Blame = None, time: Any = None
    ) -> list[Change]:
        """Add a row; return what happened.

        ``blame`` is how anomalous each channel is, or a function that returns it; it is only called
        for rows that belong to an event. ``time`` is any value, copied to the event.
        """
        if score <= self.policy.start and self._event is None and self._pending is None:
            self._lift.rest()  # nothing begins, goes on or ends
            self.row += 1
            return []
        return self._add(score, score - self._lift.push(score), blame, time)

    def push_many(
        self,
        scores: NDArray[np.float64],
        *,
        blame: Blame = None,
        times: Sequence[Any] | NDArray[Any] | None = None,
        cuts: Iterable[int] = (),
    ) -> list[Change]:
        """Add many rows; return what :meth:`push` and, before each cut, :meth:`cut` would."""
        scores = np.asarray(scores, dtype=np.float64)
        lowered = scores - self._lift.push_many(scores)
        count, first = len(scores), self.row
        edges = sorted({at for at in cuts if 0 <= at < count})
        over = np.flatnonzero((lowered > self.policy.start) | np.isnan(scores))
        stops = [*np.union1d(over, np.array(edges, dtype=np.int64)).tolist(), count]
        is_edge, changes, i, at = set(edges), [], 0, 0
        while at < count:
            if at in is_edge:
                changes += self.cut()
            if not self._firing and self._pending is None:  # nothing happens before the next stop
                while stops[i] < at or (stops[i] == at and not lowered[at] > self.policy.start):
                    i += 1
                if stops[i] > at:
                    changes += self._pass(stops[i] - at, np.isnan(scores[at]))
                    at = self.row - first
                    continue
            changes += self._add(
                float(scores[at]),
                float(lowered[at]),
                None if blame is None else blame[at],
                None if times is None else times[at],
            )
            at += 1
        return changes

    def skip(self, rows: int = 1) -> list[Change]:
        """Add rows without a score; return what happened."""
        changes = self.cut()
        self.row += rows
        return changes

    def cut(self) -> list[Change]:
        """End everything, as where time has a gap; the next row begins something new."""
        self._pending = None
        changes = self._resolve(self.row)
        return changes + self._finalise(self.row)

    def finish(self) -> list[Change]:
        """End with the last row: the event is final, and ``firing`` if it still was."""
        self._pending = None
        return self._finalise(self.row)

    # -- people --------------------------------------------------------------------------------

    @property
    def event(self) -> AlarmEvent | None:
        """The event that is firing, or resolved and not final; None if there is none."""
        return None if self._event is None else self._made(self._event)

    @property
    def is_firing(self) -> bool:
        """Whether an event is firing."""
        return self._firing

    @property
    def is_pending(self) -> bool:
        """Whether rows are above the start threshold and no event has fired yet."""
        return self._pending is not None

    def acknowledge(self, number: int) -> AlarmEvent:
        """Mark the current event as seen; it stays so when it goes on or is reopened.

        For an event that is final use :meth:`AlarmEvent.acknowledge`.
        """
        if self._event is None or number != self._count:
            known = "there is none" if self._event is None else f"that is event {self._count}"
            raise UnknownNameError(
                f"event {number} is not the current one; {known}; to mark an event on record use "
                "event.acknowledge()"
            )
        self._marks.acknowledged = True
        return self._made(self._event)

    def shelve(self, channel: str, *, rows: int) -> None:
        """Set aside the events blamed most on a channel for so many rows from now.

        They are still found and recorded, with ``shelved`` set; so is the current one.
        """
        self._marks.shelve(channel, row=self.row, rows=rows)
        if self._event is not None:
            self._marks.look(self._cause(self._event), row=self.row)

    # -- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        known = MachineState(
            self.row, self._count, self._firing, **self._marks.state(), pending=self._pending,
            event=self._event, lift=self._lift.state(),
        )  # fmt: skip
        return {"policy": self.policy.to_json(), **asdict(known)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        channels = None if self._names is None else len(self._names)
        known = read_state(state, policy=self.policy, channels=channels)
        self._lift = Lift(self.policy)
        if known.lift is not None:
            self._lift.restore(known.lift)
        self.row, self._count, self._firing = known.row, known.count, known.firing
        self._pending, self._event = known.pending, known.event
        self._marks = Marks(
            self._names, acknowledged=known.acknowledged, shelved=known.shelved, shelf=known.shelf
        )

    # -- steps ---------------------------------------------------------------------------------

    def _add(self, score: float, lowered: float, blame: Any, time: Any) -> list[Change]:
        """Add a row with its score, and the score without the lift of the thresholds."""
        if math.isnan(score):
            return self.skip()
        row, policy = self.row, self.policy
        self.row += 1
        if self._firing and self._event is not None:
            found = Run.of(row, score, blame, time) if lowered > policy.release else None
            return self._go_on(self._event, found, row, time)
        if lowered <= policy.start:
            self._pending = None
            return self._settle(self.row)
        found = Run.of(row, score, blame, time)
        self._pending = found if self._pending is None else self._pending.joined(found)
        if self._pending.end - self._pending.start >= policy.min_duration:
            return self._fire(self._pending.fired_at(row), row)
        return self._settle(self._pending.start)

    def _go_on(self, event: Run, found: Run | None, row: int, time: Any) -> list[Change]:
        """Add a row while an event fires; ``found`` if it is above the end threshold."""
        if found is not None:
            self._event = event.joined(found)
        elif row - event.last <= self.policy.keep_firing:
            self._event = event.held(row, time)
        else:
            return self._resolve(row) + self._settle(self.row)
        return []

    def _fire(self, new: Run, row: int) -> list[Change]:
        """Reopen the last event, or begin a new one."""
        last, self._pending = self._event, None
        if last is not None and last.goes_on_with(new, self.policy):
            self._event, self._firing = last.joined(new), True
            return [Change("reopened", row, self._made(self._event))]
        changes = self._finalise(row)
        self._count += 1
        self._event, self._firing = new, True
        self._marks.begin(self._cause(new), row=self.row)
        return [*changes, Change("fired", row, self._made(new))]

    def _resolve(self, row: int) -> list[Change]:
        if not self._firing or self._event is None:
            return []
        self._firing = False
        return [Change("resolved", row, self._made(self._event))]

    def _settle(self, start: int) -> list[Change]:
        """Make the event final if one that begins at ``start`` can no longer be the same."""
        event = self._event
        if event is None or self._firing or start - event.end <= self.policy.reach:
            return []
        return self._finalise(self.row - 1)

    def _finalise(self, row: int) -> list[Change]:
        if self._event is None:
            return []
        made = self._made(self._event)
        self._event, self._firing = None, False
        return [Change("final", row, made)]

    def _pass(self, rows: int, unscored: bool) -> list[Change]:
        """Add rows in which nothing begins; with ``unscored`` the first has no score."""
        if unscored:
            return self.skip()
        event, before = self._event, self.row
        self.row += rows
        if event is None or self.row - event.end <= self.policy.reach:
            return []
        return self._finalise(max(before, event.end + self.policy.reach))

    # -- events --------------------------------------------------------------------------------

    def _made(self, run: Run) -> AlarmEvent:
        return AlarmEvent(
            run.start, run.end, run.peak, run.score, run.channels(self._names, self._top),
            number=self._count, fired=run.fired, rows=run.rows,
            severity=self.policy.severity(peak=run.score, rows=run.rows),
            status="firing" if self._firing else "resolved",
            acknowledged=self._marks.acknowledged, shelved=self._marks.shelved,
            vehicle=self.vehicle, begins=run.begins, ends=run.ends,
        )  # fmt: skip

    def _cause(self, run: Run) -> tuple[str, ...]:
        """Return the channel blamed most, or nothing."""
        return run.channels(self._names, 1)
