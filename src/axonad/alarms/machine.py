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

Events far beyond the budget are gathered into one, see :mod:`axonad.alarms.gathering`. That event
is resolved by a gap, not final: the next one goes into it.

What the machine does with a row depends on the rows before alone. So the same rows give the same
events at once, in chunks, live, and after a restart from :meth:`AlarmMachine.state`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.event import AlarmEvent, Change
from axonad.alarms.following import Lift
from axonad.alarms.gathering import Gathering
from axonad.alarms.machine_state import MachineState, read_state
from axonad.alarms.machine_steps import Steps, Vehicle
from axonad.alarms.marks import Marks
from axonad.alarms.run import Blame
from axonad.errors import UnknownNameError

__all__ = ["AlarmMachine", "Vehicle"]


class AlarmMachine(Steps):
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

    # -- rows ----------------------------------------------------------------------------------

    def push(
        self, score: float, *, blame: Callable[[], Blame] | Blame = None, time: Any = None
    ) -> list[Change]:
        """Add a row; return what happened.

        ``blame`` is how anomalous each channel is, or a function that returns it; it is only called
        for rows that belong to an event. ``time`` is any value, copied to the event.
        """
        self._gathering.add(score)
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
        self._gathering.see(scores)
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
            self._gathering.move(at + 1)
            changes += self._add(
                float(scores[at]),
                float(lowered[at]),
                None if blame is None else blame[at],
                None if times is None else times[at],
            )
            at += 1
        self._gathering.move(count)
        return changes

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
    def is_gathering(self) -> bool:
        """Whether events come far beyond the budget, so that the current one gathers them."""
        return self._gathering.holds

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
            event=self._event, lift=self._lift.state(), gathering=self._gathering.state(),
        )  # fmt: skip
        return {"policy": self.policy.to_json(), **asdict(known)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        channels = None if self._names is None else len(self._names)
        known = read_state(state, policy=self.policy, channels=channels)
        self._lift = Lift(self.policy)
        if known.lift is not None:
            self._lift.restore(known.lift)
        self._gathering = Gathering(self.policy)
        self._gathering.restore(known.gathering, channels=channels)
        self.row, self._count, self._firing = known.row, known.count, known.firing
        self._pending, self._event = known.pending, known.event
        self._marks = Marks(
            self._names, acknowledged=known.acknowledged, shelved=known.shelved, shelf=known.shelf
        )
