"""The steps of the state machine of alarms, one row or event at a time.

:mod:`axonad.alarms.machine` says what they make of a stream.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from axonad.alarms.event import AlarmEvent, Change
from axonad.alarms.following import Lift
from axonad.alarms.gathering import Gathering
from axonad.alarms.marks import Marks
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.run import Run

TOP = 4  # channels listed

Vehicle = str | int | None


class Steps:
    """What is pending and firing, and what one more row does to it.

    The parameters are those of :class:`~axonad.alarms.machine.AlarmMachine`.
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
        self._gathering = Gathering(policy)

    def skip(self, rows: int = 1) -> list[Change]:
        """Add rows without a score; return what happened."""
        changes = self.cut()
        self.row += rows
        return changes

    def cut(self) -> list[Change]:
        """End everything, as where time has a gap; the next row begins something new."""
        self._pending = None
        changes = self._resolve(self.row)
        if self._gathering.holds:
            self._gathering.is_cut = True
            return changes
        return changes + self._finalise(self.row)

    # -- steps ---------------------------------------------------------------------------------

    def _add(self, score: float, lowered: float, blame: Any, time: Any) -> list[Change]:
        """Add a row with its score, and the score without the lift of the thresholds."""
        if math.isnan(score):
            return self.skip()
        row, policy = self.row, self.policy
        self.row += 1
        if self._firing and self._event is not None:
            found = Run.of(row, score, blame, time) if lowered > policy.release else None
            return self._go_on(self._last(self._event), found, row, time)
        if lowered <= policy.start:
            self._pending = None
            return self._settle(self.row)
        found = Run.of(row, score, blame, time)
        self._pending = found if self._pending is None else self._pending.joined(found)
        if self._pending.end - self._pending.start >= policy.min_duration:
            return self._fire(self._pending.fired_at(row), row)
        return self._settle(self._pending.start)

    def _go_on(self, last: Run, found: Run | None, row: int, time: Any) -> list[Change]:
        """Add a row while an event fires; ``found`` if it is above the end threshold."""
        if found is not None:
            self._put(last.joined(found))
            return self._separate(row)
        if row - last.last <= self.policy.keep_firing:
            self._put(last.held(row, time))
            return []
        return self._resolve(row) + self._settle(self.row)

    def _fire(self, new: Run, row: int) -> list[Change]:
        """Reopen the last event, gather the new one into it, or begin it."""
        event, known, self._pending = self._event, self._gathering, None
        if event is None:
            return self._begin(new, row)
        last = self._last(event)
        if not known.is_cut and last.goes_on_with(new, self.policy):
            self._put(last.joined(new))
        elif known.holds:
            event = known.gather(event, new)
            self._event = event
        else:
            return self._finalise(row) + self._begin(new, row)
        self._firing = True
        return self._separate(row) or [Change("reopened", row, self._made(self._event or event))]

    def _begin(self, new: Run, row: int) -> list[Change]:
        self._count += 1
        self._event, self._firing = new, True
        self._gathering.begin(row, new.score)
        self._marks.begin(self._cause(new), row=self.row)
        return [Change("fired", row, self._made(new))]

    def _separate(self, row: int) -> list[Change]:
        """Begin the event gathered last as one of its own, if it has become too strong."""
        if self._event is None or not self._gathering.is_outgrown:
            return []
        part, self._firing = self._gathering.separate(), False
        final = Change("final", row, self._made(self._event))
        return [final] if part is None else [final, *self._begin(part.fired_at(row), row)]

    def _last(self, event: Run) -> Run:
        """Return the event gathered last, or the current one."""
        return self._gathering.part or event

    def _put(self, run: Run) -> None:
        """Replace it."""
        if self._gathering.part is None:
            self._event = run
        else:
            self._gathering.part = run

    def _resolve(self, row: int) -> list[Change]:
        if not self._firing or self._event is None:
            return []
        self._firing = False
        return [Change("resolved", row, self._made(self._event))]

    def _settle(self, start: int) -> list[Change]:
        """Make the event final if one that begins at ``start`` can no longer be the same."""
        event = self._event
        if event is None or self._firing or start - self._last(event).end <= self._reach:
            return []
        return self._finalise(self.row - 1)

    @property
    def _reach(self) -> int:
        return self._gathering.period if self._gathering.holds else self.policy.reach

    def _finalise(self, row: int) -> list[Change]:
        if self._event is None:
            return []
        made = self._made(self._event)
        self._gathering.end(self._event)
        self._event, self._firing = None, False
        return [Change("final", row, made)]

    def _pass(self, rows: int, unscored: bool) -> list[Change]:
        """Add rows in which nothing begins; with ``unscored`` the first has no score."""
        if unscored:
            return self.skip()
        event, before = self._event, self.row
        self.row += rows
        if event is None or self.row - self._last(event).end <= self._reach:
            return []
        return self._finalise(max(before, self._last(event).end + self._reach))

    # -- events --------------------------------------------------------------------------------

    def _made(self, event: Run) -> AlarmEvent:
        run = self._gathering.whole(event)
        return AlarmEvent(
            run.start, run.end, run.peak, run.score, run.channels(self._names, self._top),
            number=self._count, fired=run.fired, rows=run.rows,
            severity=self.policy.severity(peak=run.score, rows=run.rows),
            status="firing" if self._firing else "resolved",
            acknowledged=self._marks.acknowledged, shelved=self._marks.shelved,
            vehicle=self.vehicle, begins=run.begins, ends=run.ends, drift=self._gathering.holds,
            reason=self._gathering.reason, gathered=self._gathering.number,
        )  # fmt: skip

    def _cause(self, run: Run) -> tuple[str, ...]:
        """Return the channel blamed most, or nothing."""
        return run.channels(self._names, 1)
