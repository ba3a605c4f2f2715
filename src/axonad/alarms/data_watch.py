"""Events of class data: bad values as rows come, by the rules of :mod:`axonad.alarms.bad_data`.

Channels that go wrong at the same row in the same way are one event. It lasts until all of them are
well, and stays open until they have been well for longer than the longest run that is not
reported. A channel that goes wrong again before then does not begin another event: the open one
goes on and counts how often (``gathered``). So a channel that is sent too rarely is one event, not
hundreds. Missing values do not reopen an event of wrong values, nor the other way round. The reason
is the gravest seen: a channel first out of range and then frozen there is unplugged. A cut ends all
events and forgets the runs. As with scores, the same rows give the same events at once, in chunks,
live and after a restart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.bad_data import REASONS, Carry, DataRules, run_lengths
from axonad.alarms.event import DATA, SEVERITIES, AlarmEvent, Change
from axonad.alarms.quiet_rows import MISSING, QuietRows
from axonad.alarms.waiting_rows import WaitingRows

BLOCK = 10_000  # rows judged at a time


@dataclass
class _Group:
    """Channels that went wrong together."""

    number: int
    start: int
    end: int
    fired: int
    rank: int
    channels: list[int]
    begins: Any
    ends: Any
    again: int = 0  # how often they went wrong again
    well: int = 0  # rows in between
    is_well: bool = False


class DataWatch:
    """Watches the values of one stream or series.

    Values that are missing are NaN, as before any filling: a held value would look frozen. ``hold``
    is the number of rows for which they are held; until then they are not reported.
    """

    def __init__(
        self, rules: DataRules, *, hold: int = 0, vehicle: str | int | None = None
    ) -> None:
        self.rules, self.vehicle = replace(rules, held=hold), vehicle
        self.row = 0
        """Number of rows seen."""
        self._carry = Carry.start(len(rules.low))
        self._since: list[Any] = [None] * len(rules.low)  # when the current runs began
        self._groups: list[_Group] = []
        self._count = 0
        self._waiting = WaitingRows()  # the last rows, which change no event but its end
        self._quiet = QuietRows(self.rules)

    @property
    def events(self) -> list[AlarmEvent]:
        """The events that have not ended."""
        self._add_waiting()
        return [self._made(group, "firing") for group in self._groups]

    def push(self, values: NDArray[Any], *, time: Any = None) -> list[Change]:
        """Add a row; return what happened. ``values`` must not be changed later."""
        self._waiting.add(values, time=time)
        self.row += 1
        quiet = self._quiet.has(self._waiting.rows) and not self._waiting.is_full
        if quiet and all(self.row <= self._last_row(one) for one in self._groups if one.is_well):
            return []
        return self._add_waiting()

    def hold_for(self, rows: int) -> None:
        """Set for how many rows missing values are held from now on."""
        if rows != self.rules.held:
            self._add_waiting()
            self.rules = replace(self.rules, held=rows)
            self._quiet = QuietRows(self.rules)

    def push_many(
        self,
        values: NDArray[Any],
        *,
        times: Sequence[Any] | NDArray[Any] | None = None,
        cuts: Iterable[int] = (),
    ) -> list[Change]:
        """Add many rows (time, channels); before each cut all events end."""
        rows, changes = np.asarray(values, dtype=np.float64), self._add_waiting()
        edges = {at for at in cuts if 0 <= at < len(rows)}
        stops = sorted({*range(0, len(rows), BLOCK), *edges, len(rows)})
        for start, stop in pairwise(stops):
            if start in edges:
                changes += self.cut()
            part = None if times is None else times[start:stop]
            changes += self._add(rows[start:stop], part)
        return changes

    def cut(self) -> list[Change]:
        """End all events, as where time has a gap."""
        self._add_waiting()
        self._quiet.forget()
        self._carry = Carry.start(len(self.rules.low))
        return self._end(list(self._groups), "resolved")

    def finish(self) -> list[Change]:
        """End with the last row; events that go on are final and still ``firing``."""
        self._add_waiting()
        changes = self._end([one for one in self._groups if one.is_well], "resolved")
        return changes + self._end(list(self._groups), "firing")

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        self._add_waiting()
        last = [None if math.isnan(value) else value for value in self._carry.last.tolist()]
        return {
            "row": self.row,
            "count": self._count,
            "last": last,
            "constant": self._carry.constant.tolist(),
            "missing": self._carry.missing.tolist(),
            "since": list(self._since),
            "groups": [asdict(group) for group in self._groups],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        channels = len(self.rules.low)
        carry = Carry(
            np.array(state["last"], dtype=np.float64),
            np.array(state["constant"], dtype=np.int64),
            np.array(state["missing"], dtype=np.int64),
        )
        if any(part.shape != (channels,) for part in vars(carry).values()):
            raise ValueError(f"its runs of bad data do not fit {channels} channels")
        since = list(state["since"])
        if len(since) != channels:
            raise ValueError(f"its times of bad data do not fit {channels} channels")
        row, count = state["row"], state["count"]
        if any(type(value) is not int or value < 0 for value in (row, count)):
            raise ValueError(f"its row and count must be integers of at least 0, got {row, count}")
        groups = [_Group(**group) for group in state["groups"]]
        for group in groups:
            if any(type(i) is not int or not 0 <= i < channels for i in group.channels):
                raise ValueError(f"an event of bad data has the channels {group.channels!r:.60}")
            if not 1 <= group.rank <= len(REASONS) or not group.start <= group.fired < group.end:
                raise ValueError("an event of bad data makes no sense")
            if any(type(one) is not int or one < 0 for one in (group.again, group.well)):
                raise ValueError("an event of bad data counts what it cannot count")
        self.row, self._count, self._groups = row, count, groups
        self._carry, self._since = carry, since
        self._waiting.clear()
        self._quiet.forget()

    def _add_waiting(self) -> list[Change]:
        """Judge the rows that wait; only the last of them can change more than ends of events."""
        if len(self._waiting) == 0:
            return []
        values, times = self._waiting.values(), self._waiting.times
        self._waiting.clear()
        self.row -= len(values)
        return self._add(values, times)

    def _add(self, values: NDArray[np.float64], times: Any) -> list[Change]:
        constant, missing = run_lengths(values, self._carry)
        ranks = self.rules.ranks(values, constant, missing)
        runs = np.where(ranks == 1, 1, np.maximum(constant, missing))
        changes, first, since = list[Change](), self.row, self._since
        has_changed = np.append(True, (ranks[1:] != ranks[:-1]).any(axis=1))
        has_changed[0] = bool(self._groups) or ranks[0].any()
        for at in np.flatnonzero(has_changed).tolist():
            changes += self._go_on(first + at, times, at - 1)
            self.row = first + at + 1
            begins = [
                None if times is None else times[at - run + 1] if run <= at + 1 else since[i]
                for i, run in enumerate(runs[at].tolist())
            ]
            changes += self._judge(
                ranks[at], runs[at], begins, None if times is None else times[at]
            )
        changes += self._go_on(first + len(values), times, len(values) - 1)
        self._quiet.begin(values[-1], ranks[-1], self._carry)
        if times is not None:
            length = np.maximum(constant[-1], missing[-1]).tolist()
            self._since = [
                old if run > len(values) else times[len(values) - max(run, 1)]
                for run, old in zip(length, since, strict=True)
            ]
        return changes

    def _go_on(self, end: int, times: Any, last: int) -> list[Change]:
        """Go on over rows in which nothing changes, of which ``last`` is the last; end events."""
        changes = list[Change]()
        for group in sorted(self._groups, key=self._last_row):
            if group.is_well and self._last_row(group) < end:
                self.row = self._last_row(group) + 1
                changes += self._end([group], "resolved")
            elif not group.is_well and end > group.end:
                group.end, group.ends = end, None if times is None else times[last]
        self.row = end
        return changes

    def _last_row(self, group: _Group) -> int:
        """Return the row at which an event is final if its channels stay well.

        A run that begins while they have been well for no longer than the longest run that is not
        reported has become longer than that by then.
        """
        return group.end + 2 * self._patience(group) + 1

    def _patience(self, group: _Group) -> int:
        """Return the length of the longest run of an event's channels that is not reported."""
        constant, missing = self.rules.limits
        limits = constant if group.rank > MISSING else missing
        return int(limits[group.channels].max())

    def _judge(
        self,
        ranks: NDArray[np.int8],
        runs: NDArray[np.int64],
        begins: Sequence[Any],
        time: Any,
    ) -> list[Change]:
        """Go on with events, end those whose channels are well, and begin new ones."""
        row, ended, known = self.row - 1, list[_Group](), set[int]()
        changes = list[Change]()
        for group in self._groups:
            bad = [i for i in group.channels if ranks[i]]
            if bad and group.is_well:
                start = row + 1 - max(int(runs[i]) for i in bad)
                is_other = any((ranks[i] == MISSING) != (group.rank == MISSING) for i in bad)
                if is_other or start - group.end > self._patience(group):
                    ended.append(group)
                    continue
                group.is_well, group.again = False, group.again + 1
                group.well += max(0, start - group.end)
                self._go_on_with(group, bad, ranks, row, time)
                changes.append(Change("reopened", row, self._made(group, "firing")))
            elif bad:
                self._go_on_with(group, bad, ranks, row, time)
            else:
                group.is_well = True
            known |= set(bad)
        changes = self._end(ended, "resolved") + changes
        fresh: dict[tuple[int, int], list[int]] = {}
        for i in np.flatnonzero(ranks).tolist():
            if i not in known:
                fresh.setdefault((int(runs[i]), int(ranks[i])), []).append(i)
        for (length, rank), channels in sorted(fresh.items()):
            self._count += 1
            start, began = row - length + 1, begins[channels[0]]
            group = _Group(self._count, start, row + 1, row, rank, channels, began, time)
            self._groups.append(group)
            changes.append(Change("fired", row, self._made(group, "firing")))
        return changes

    def _go_on_with(
        self, group: _Group, bad: list[int], ranks: NDArray[np.int8], row: int, time: Any
    ) -> None:
        group.end, group.ends = row + 1, time
        group.rank = max(group.rank, *(int(ranks[i]) for i in bad))

    def _end(self, ended: list[_Group], status: str) -> list[Change]:
        gone = {group.number for group in ended}
        self._groups = [group for group in self._groups if group.number not in gone]
        row = max(self.row - 1, 0)
        return [Change("final", row, self._made(group, status)) for group in ended]

    def _made(self, group: _Group, status: str) -> AlarmEvent:
        known = self.rules.names
        names = tuple(str(i) if known is None else known[i] for i in group.channels)
        reason = REASONS[group.rank - 1]
        return AlarmEvent(
            group.start, group.end, group.fired, math.nan, names,
            number=group.number, fired=group.fired, rows=group.end - group.start - group.well,
            gathered=group.again, kind=DATA, reason=reason, status=status,
            severity=SEVERITIES[reason == "unplugged"], vehicle=self.vehicle,
            begins=group.begins, ends=group.ends,
        )  # fmt: skip
