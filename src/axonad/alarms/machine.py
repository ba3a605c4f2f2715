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
from axonad.alarms.machine_state import MachineState, read_state
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.run import NEVER, Run
from axonad.config import check_int
from axonad.errors import UnknownNameError
from axonad.threshold import rank_channels

TOP = 4  # channels listed

Vehicle = str | int | None
Blame = NDArray[np.float64] | None


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
        self._acknowledged = self._shelved = False  # of the event
        self._shelf: dict[str, int] = {}  # channel → row up to which its events are set aside

    # -- rows ----------------------------------------------------------------------------------

    def push(
        self, score: float, *, blame: Callable[[], Blame] | Blame = None, time: Any = None
    ) -> list[Change]:
        """Add a row; return what happened.

        ``blame`` is how anomalous each channel is, or a function that returns it; it is only called
        for rows that belong to an event. ``time`` is any value, copied to the event.
        """
        if math.isnan(score):
            return self.skip()
        row, policy = self.row, self.policy
        self.row += 1
        if self._firing and self._event is not None:
            return self._go_on(self._event, row, score, blame, time)
        if score <= policy.start:
            self._pending = None
            return self._settle(self.row)
        found = Run.of(row, score, _called(blame), time)
        self._pending = found if self._pending is None else self._pending.joined(found)
        if self._pending.end - self._pending.start >= policy.min_duration:
            return self._fire(self._pending.fired_at(row), row)
        return self._settle(self._pending.start)

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
        count, first = len(scores), self.row
        edges = sorted({at for at in cuts if 0 <= at < count})
        over = np.flatnonzero((scores > self.policy.start) | np.isnan(scores))
        stops = [*np.union1d(over, np.array(edges, dtype=np.int64)).tolist(), count]
        is_edge, changes, i, at = set(edges), [], 0, 0
        while at < count:
            if at in is_edge:
                changes += self.cut()
            if not self._firing and self._pending is None:  # nothing happens before the next stop
                while stops[i] < at or (stops[i] == at and not scores[at] > self.policy.start):
                    i += 1
                if stops[i] > at:
                    changes += self._pass(stops[i] - at, np.isnan(scores[at]))
                    at = self.row - first
                    continue
            changes += self.push(
                float(scores[at]),
                blame=None if blame is None else blame[at],
                time=None if times is None else times[at],
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
            raise UnknownNameError(
                f"event {number} is not the current one; {self._current()}; to mark an event on "
                "record use event.acknowledge()"
            )
        self._acknowledged = True
        return self._made(self._event)

    def shelve(self, channel: str, *, rows: int) -> None:
        """Set aside the events blamed most on a channel for so many rows from now.

        They are still found and recorded, with ``shelved`` set; so is the current one.
        """
        if self._names is not None and channel not in self._names:
            raise UnknownNameError(f"no channel {channel!r} among {', '.join(self._names)}")
        check_int("rows", rows, low=1)
        self._shelf[channel] = self.row + rows
        if self._event is not None:
            self._shelved = self._shelved or self._is_shelved(self._event)

    # -- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        known = MachineState(
            self.row, self._count, self._firing, self._acknowledged, self._shelved, self._shelf,
            self._pending, self._event,
        )  # fmt: skip
        return {"policy": self.policy.to_json(), **asdict(known)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        channels = None if self._names is None else len(self._names)
        known = read_state(state, policy=self.policy, channels=channels)
        self.row, self._count, self._shelf = known.row, known.count, dict(known.shelf)
        self._firing, self._acknowledged = known.firing, known.acknowledged
        self._shelved, self._pending, self._event = known.shelved, known.pending, known.event

    # -- steps ---------------------------------------------------------------------------------

    def _go_on(self, event: Run, row: int, score: float, blame: Any, time: Any) -> list[Change]:
        """Add a row while an event fires."""
        if score > self.policy.release:
            self._event = event.joined(Run.of(row, score, _called(blame), time))
        elif row - event.last <= self.policy.keep_firing:
            self._event = event.held(row, time)
        else:
            return self._resolve(row) + self._settle(self.row)
        return []

    def _fire(self, new: Run, row: int) -> list[Change]:
        """Reopen the last event, or begin a new one."""
        last, self._pending = self._event, None
        if last is not None and self._is_same(last, new):
            self._event, self._firing = last.joined(new), True
            return [Change("reopened", row, self._made(self._event))]
        changes = self._finalise(row)
        self._count += 1
        self._event, self._firing, self._acknowledged = new, True, False
        self._shelved = self._is_shelved(new)
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
            run.start, run.end, run.peak, run.score, self._channels(run),
            number=self._count, fired=run.fired, rows=run.rows,
            severity=self.policy.severity(peak=run.score, rows=run.rows),
            status="firing" if self._firing else "resolved",
            acknowledged=self._acknowledged, shelved=self._shelved, vehicle=self.vehicle,
            begins=run.begins, ends=run.ends,
        )  # fmt: skip

    def _channels(self, run: Run, top: int | None = None) -> tuple[str, ...]:
        if run.blame is None:
            return ()
        blame = np.array(run.blame)
        blame[blame <= NEVER] = -np.inf
        return rank_channels(blame, self._names, top=self._top if top is None else top)

    def _is_same(self, last: Run, new: Run) -> bool:
        """Whether a run that begins after an event is taken for the same event."""
        gap, first = new.start - last.end, self._channels(last, 1)
        if gap <= self.policy.merge_gap:
            return True
        return gap <= self.policy.cause_gap and bool(first) and first == self._channels(new, 1)

    def _is_shelved(self, run: Run) -> bool:
        return any(self._shelf.get(name, -1) >= self.row for name in self._channels(run, 1))

    def _current(self) -> str:
        return f"that is event {self._count}" if self._event is not None else "there is none"


def _called(blame: Callable[[], Blame] | Blame) -> Blame:
    return blame() if callable(blame) else blame
