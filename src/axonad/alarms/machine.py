"""The state machine of alarms: scores in, events out, row by row.

    nothing → pending → firing → resolved → final

- **pending**: scores are above ``start``. One row that is not ends it without an event.
- **firing**: ``min_duration`` consecutive rows were above ``start``. The event goes on while scores
  are above ``end``, and ``keep_firing`` rows longer.
- **resolved**: it no longer fires. If another event begins within ``merge_gap`` rows, or within
  ``cause_gap`` rows with the same channel most anomalous, both are one event, which is reopened.
- **final**: nothing can change the event any more.

A row without a score (NaN: the window is not full) and a cut (a gap in time) end what is pending or
firing, and the event is final at once: no event spans rows that nobody could judge. Rows without a
score and cuts leave the adaptive threshold as it is, and a flood of alarms goes on beyond them.

What the machine does with a row depends on the rows before alone. So the same rows give the same
events at once, in chunks, live, and after a restart from :meth:`AlarmMachine.state`.

:class:`AdaptiveThreshold` raises the thresholds while scores stay high, :class:`AlarmFlood` says
when one event is told for many, :class:`Segment` is what is remembered of rows that belong
together, and :class:`AlarmMachine` is the machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.event import AlarmEvent, Change
from axonad.alarms.policy import AlarmPolicy
from axonad.config import check_float, check_int
from axonad.errors import ModelFileError
from axonad.modelfile import check_counts, check_entries, check_number
from axonad.threshold import rank_channels

VERSION = 1  # of a saved state
TOP = 4  # channels listed
NEVER = -1e300  # stands in a saved state for minus infinity: a channel that is never anomalous
SHARE = 0.7  # of the rows in a flood that score above normal data's median, at least
TWICE = 2.0  # how much further from the usual an event in a flood must be to be told by itself

Values = NDArray[np.float64]
Attribution = Values | None
"""How anomalous each channel is in a row; None if the detector does not say."""
Vehicle = str | int | None


class AdaptiveThreshold:
    """How far the thresholds of a policy are raised, row by row, while scores stay high.

    After a change that lasts (another season, a worn part, another load) normal scores may lie
    above any threshold that normal data before the change could tell. An alarm that never ends is
    switched off, and then the next fault is missed. So both thresholds rise while scores stay above
    them, and an event begins only where scores rise above what they have been lately:

    - A row below the start threshold looks like training. It lowers the rise by ``recover`` and
      saves up ``allowance`` rows of alarm, to at most ``long``.
    - A row between the start threshold and the raised one lowers the rise by ``settle``.
    - A row above the raised start threshold uses up one of the saved rows, or, if there is none
      left, raises the thresholds by ``rise``.

    Steps are in units of ``start - level``. Where faults are rare, rows are saved up and an event
    lasts as long as its scores are high, up to ``long`` rows. Where scores are always high, the
    thresholds reach them within a few rows. With a ``rise`` of 0 thresholds stay where they are.

    This says nothing about what is normal: whether the data still looks like training is judged
    against a fixed reference (``docs/alarms.md``). A row changes the thresholds of later rows only;
    one without a score changes nothing.

    >>> threshold = AdaptiveThreshold(
    ...     AlarmPolicy(start=1.0, level=0.0, rise=0.5, settle=0.1, recover=0.25)
    ... )
    >>> [threshold.push(score) for score in (2.0, 2.0, 1.2, 0.0, 0.0)]
    [0.0, 0.5, 1.0, 0.9, 0.65]
    """

    def __init__(self, policy: AlarmPolicy) -> None:
        unit = 0.0 if policy.level is None else policy.start - policy.level
        self._start, self._rise, self._settle, self._recover = (
            policy.start, policy.rise * unit, policy.settle * unit, policy.recover * unit,
        )  # fmt: skip
        self._allowance = policy.allowance
        self._most = math.inf if policy.long is None else float(policy.long)
        self._after, self._saved = 0.0, 0.0  # after the last row above the start threshold
        self._quiet = 0  # rows since

    @property
    def value(self) -> float:
        """How far the thresholds are raised for the next row."""
        return max(0.0, self._after - self._quiet * self._recover)

    def push(self, score: float) -> float:
        """Add a row; return how far the thresholds were raised for it."""
        raised = self.value
        if self._rise == 0 or math.isnan(score):
            return raised
        if score > self._start:
            self._pass(score, self._quiet)
            self._quiet = 0
        else:
            self._quiet += 1
        return raised

    def push_many(self, scores: Values) -> Values:
        """Add rows; return how far the thresholds were raised for each."""
        if self._rise == 0:
            return np.zeros(len(scores))
        hot = np.flatnonzero(scores > self._start)
        scored = np.concatenate([[0], np.cumsum(np.isfinite(scores))])  # before each row
        since = np.concatenate([[-self._quiet], scored[hot] + 1])
        after = [self._after]
        quiet = scored[hot] - since[:-1]
        for score, rows in zip(scores[hot].tolist(), quiet.tolist(), strict=True):
            self._pass(score, rows)
            after.append(self._after)
        last = np.searchsorted(hot, np.arange(len(scores) + 1))  # rows above start before each
        self._quiet = int(scored[-1] - since[-1])
        raised = np.array(after)[last] - (scored - since[last]) * self._recover
        return np.asarray(np.maximum(0.0, raised)[:-1])

    def _pass(self, score: float, quiet: int) -> None:
        """Add a row above the start threshold after so many below it."""
        raised = max(0.0, self._after - quiet * self._recover)
        self._saved = min(self._most, self._saved + quiet * self._allowance)
        if score <= self._start + raised:
            raised = max(0.0, raised - self._settle)
        elif self._saved >= 1:
            self._saved -= 1
        else:
            raised += self._rise
        self._after = raised

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        return {"after": self._after, "saved": self._saved, "quiet": self._quiet}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise an error if it makes no sense."""
        for name in ("after", "saved"):
            check_float(name, state[name], low=0)
        check_int("quiet", state["quiet"], low=0)
        self._after, self._saved = state["after"], state["saved"]
        self._quiet = state["quiet"]


class AlarmFlood:
    """Whether events come far beyond the budget while scores as a whole are higher than usual.

    After a change of driver, load or weather, scores are higher than those that set the thresholds,
    and one event follows another. That is drift and no storm of faults. It is said when both are
    seen:

    - More than ``burst`` events fire within the time in which the budget allows one. At a rate as
      the budget says, five events in that time have a chance of 0.4 %.
    - Of the rows since the first of them that are no alarm themselves, a share of at least
      ``SHARE`` scores above ``level``, the median of normal data; or most rows are alarms. Faults
      that come close after each other do not do that: scores between them are normal.

    From then on the last event stays open and gathers those that follow. One whose score is
    ``TWICE`` as far from the usual as any told so far fires on its own, and gathers those after it.
    The flood ends when nothing has fired for the time in which the budget allows one event.
    """

    def __init__(self, policy: AlarmPolicy) -> None:
        self._policy = policy
        self._level = math.inf if policy.level is None else policy.level
        self.is_possible = policy.pace > 0 and policy.burst > 0 and policy.level is not None
        self.period = round(1 / policy.pace) if self.is_possible else 0
        """Rows in which the budget allows one event."""
        self.holds = False
        self.counts = [0, 0, 0]
        """Rows so far that are no alarm, those of them above the usual score, and rows in alarm."""
        self._recent: list[tuple[int, list[int], float]] = []  # events told: row, counts, peak
        self._told = 0.0  # the highest score told while it holds

    def push(self, score: float) -> None:
        """Count a row; one without a score (NaN) does not count."""
        if not self.is_possible or math.isnan(score):
            return
        calm, above, hot = self.counts
        if score > self._policy.release:
            self.counts = [calm, above, hot + 1]
        else:
            self.counts = [calm + 1, above + (score > self._level), hot]

    def counts_of(self, scores: Values) -> NDArray[np.int64]:
        """Return what ``counts`` will be after each of the next rows, without counting them."""
        hot, calm = scores > self._policy.release, scores <= self._policy.release
        rows = np.stack([calm, calm & (scores > self._level), hot], axis=1)
        return np.asarray(self.counts + np.cumsum(rows, axis=0))

    def fire(self, row: int, score: float) -> None:
        """Add an event that is told and fires at a row; the flood may begin with it."""
        if not self.is_possible:
            return
        burst = self._policy.burst
        self._recent = [*self._recent, (row, self.counts, score)][-burst - 1 :]
        first, counts, _ = self._recent[0]
        if self.holds or len(self._recent) <= burst or row - first >= self.period:
            return
        calm, above, hot = np.subtract(self.counts, counts).tolist()
        if hot > calm or above >= SHARE * calm:
            self.holds, self._told = True, max(score for _, _, score in self._recent)

    def gather(self, score: float) -> None:
        """Let the event told last, whose score is now this, gather others."""
        self._told = max(self._told, score)

    def is_outgrown_by(self, score: float) -> bool:
        """Whether an event of this score is too strong not to be told."""
        excess = self._policy.excess
        return excess(score) >= TWICE * excess(self._told)

    def end(self, score: float) -> None:
        """End the flood, if there is one, with an event that is final and has this score."""
        if self._recent and not self.holds:
            row, counts, known = self._recent[-1]
            self._recent[-1] = row, counts, max(known, score)
        self.holds = False

    def state(self) -> dict[str, Any] | None:
        """Return what :meth:`restore` needs, as JSON values; None if there never is a flood."""
        if not self.is_possible:
            return None
        recent = [[row, *counts, score] for row, counts, score in self._recent]
        return {"holds": self.holds, "told": self._told, "counts": self.counts, "recent": recent}

    def restore(self, state: Mapping[str, Any] | None) -> None:
        """Continue from a state; raise KeyError, TypeError or ValueError if it does not fit."""
        if state is None or not self.is_possible:
            return
        (holds,) = _flags([state["holds"]])
        told, counts = check_number("told", state["told"]), check_counts("counts", state["counts"])
        if len(counts) != 3 or len(state["recent"]) > self._policy.burst + 1:
            raise ValueError("its flood of alarms does not fit")
        recent = []
        for *rows, score in state["recent"]:
            row, *before = check_counts("recent", rows)
            if len(before) != 3:
                raise ValueError("its flood of alarms does not fit")
            recent.append((row, before, check_number("recent", score)))
        self.holds, self._told, self.counts, self._recent = holds, told, counts, recent


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows ``[start, end)`` that belong together, with their peak, times and attribution.

    ``last`` is the last row above the end threshold; rows after it are those the event is kept
    firing for. Only rows above the end threshold count for peak and attribution, which has the
    largest value of each channel. ``rows`` is their number without the gaps between parts that were
    merged. ``fired`` is the row at which the event fired.
    """

    start: int
    end: int
    last: int
    fired: int
    peak: int
    score: float
    begins: Any
    ends: Any
    attribution: list[float] | None
    rows: int = 1

    @classmethod
    def of(cls, row: int, score: float, attribution: Attribution, time: Any) -> Self:
        """Return a segment of one row."""
        listed = None if attribution is None else np.maximum(attribution, NEVER).tolist()
        return cls(row, row + 1, row, row, row, float(score), time, time, listed)

    def joined(self, later: Segment) -> Segment:
        """Return both as one; it fired when the first of them did."""
        peak = later if later.score > self.score else self
        return replace(
            self, end=later.end, last=later.last, ends=later.ends, peak=peak.peak, score=peak.score,
            attribution=_largest(self.attribution, later.attribution), rows=self.rows + later.rows,
        )  # fmt: skip

    def held(self, row: int, time: Any) -> Segment:
        """Return it with a row for which the event is kept firing."""
        return replace(self, end=row + 1, ends=time, rows=self.rows + row + 1 - self.end)

    def channels(self, names: Sequence[str] | None, top: int) -> tuple[str, ...]:
        """Return the ``top`` most anomalous channels, without those that never are."""
        if self.attribution is None:
            return ()
        values = np.array(self.attribution)
        values[values <= NEVER] = -np.inf
        return rank_channels(values, names, top=top)

    def goes_on_with(self, later: Segment, policy: AlarmPolicy) -> bool:
        """Whether one that begins after an event is taken for the same event."""
        gap, cause = later.start - self.end, self.channels(None, 1)
        if gap <= policy.merge_gap:
            return True
        return gap <= policy.cause_gap and bool(cause) and cause == later.channels(None, 1)

    @classmethod
    def from_json(cls, document: Mapping[str, Any] | None, *, channels: int | None) -> Self | None:
        """Return a saved one; raise KeyError, TypeError or ValueError if it makes no sense."""
        if document is None:
            return None
        found = cls(**document)
        rows = (found.start, found.end, found.last, found.fired, found.peak)
        if any(type(row) is not int or row < 0 for row in rows) or not all(
            found.start <= row < found.end for row in (found.last, found.fired, found.peak)
        ):
            raise ValueError(f"an event of it has the rows {rows!r:.80}")
        if type(found.rows) is not int or not 1 <= found.rows <= found.end - found.start:
            raise ValueError(f"an event of it has {found.rows!r:.40} rows")
        check_number("the score of an event of it", found.score)
        if found.attribution is not None:
            for value in found.attribution:
                check_number("the attribution of an event of it", value)
            if channels is not None and len(found.attribution) != channels:
                raise ValueError("an event of it has not one value for each channel")
        return found


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
        self._count = 0  # of events
        self._pending: Segment | None = None
        self._event: Segment | None = None  # firing, or resolved and not final; without `_part`
        self._is_firing = False
        self._part: Segment | None = None  # the last segment that a flood has gathered into it
        self._gathered = 0
        self._is_cut = False  # whether rows without a score or a cut came since, in a flood
        self._threshold = AdaptiveThreshold(policy)
        self._flood = AlarmFlood(policy)

    @property
    def is_firing(self) -> bool:
        """Whether an event is firing."""
        return self._is_firing

    @property
    def event(self) -> AlarmEvent | None:
        """The event that is firing, or resolved and not final; None if there is none."""
        return None if self._event is None else self._made(self._event)

    # -- rows ----------------------------------------------------------------------------------

    def push(
        self,
        score: float,
        *,
        attribution: Callable[[], Attribution] | None = None,
        time: Any = None,
    ) -> list[Change]:
        """Add a row; return what happened.

        ``attribution`` says how anomalous each channel is; it is called for rows of an event only.
        ``time`` is any value, copied to the event.
        """
        self._flood.push(score)
        lowered = score - self._threshold.push(score)
        if score <= self.policy.start and self._event is None and self._pending is None:
            self.row += 1  # nothing begins, goes on or ends
            return []
        return self._add(score, lowered, attribution, time)

    def push_many(
        self,
        scores: Values,
        *,
        attribution: Callable[[int], Attribution] | None = None,
        times: Sequence[Any] | NDArray[Any] | None = None,
        cuts: Iterable[int] = (),
    ) -> list[Change]:
        """Add many rows; return what :meth:`push` and, before each cut, :meth:`cut` would.

        ``attribution`` is called with places in ``scores``.
        """
        scores = np.asarray(scores, dtype=np.float64)
        lowered = scores - self._threshold.push_many(scores)
        counts = self._flood.counts_of(scores) if self._flood.is_possible else None
        count, first = len(scores), self.row
        edges = sorted({at for at in cuts if 0 <= at < count})
        over = np.flatnonzero((lowered > self.policy.start) | np.isnan(scores))
        stops = [*np.union1d(over, np.array(edges, dtype=np.int64)).tolist(), count]
        is_edge, changes, i, at = set(edges), list[Change](), 0, 0
        while at < count:
            if at in is_edge:
                changes += self.cut()
            if not self._is_firing and self._pending is None:  # nothing happens before a stop
                while stops[i] < at or (stops[i] == at and not lowered[at] > self.policy.start):
                    i += 1
                if stops[i] > at:
                    changes += self._pass(stops[i] - at, np.isnan(scores[at]))
                    at = self.row - first
                    continue
            if counts is not None:
                self._flood.counts = counts[at].tolist()
            changes += self._add(
                float(scores[at]),
                float(lowered[at]),
                None if attribution is None else partial(attribution, at),
                None if times is None else times[at],
            )
            at += 1
        if counts is not None and count:
            self._flood.counts = counts[-1].tolist()
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
        if self._flood.holds:
            self._is_cut = True
            return changes
        return changes + self._finalise(self.row)

    def finish(self) -> list[Change]:
        """End with the last row: the event is final, and ``firing`` if it still was."""
        self._pending = None
        return self._finalise(self.row)

    # -- steps ---------------------------------------------------------------------------------

    def _add(
        self, score: float, lowered: float, attribution: Callable[[], Attribution] | None, time: Any
    ) -> list[Change]:
        """Add a row with its score, and with the score less what the thresholds are raised by."""
        if math.isnan(score):
            return self.skip()
        row, policy = self.row, self.policy
        self.row += 1
        if lowered > (policy.release if self._is_firing else policy.start):
            found = Segment.of(row, score, attribution and attribution(), time)
        else:
            found = None
        if self._is_firing and self._event is not None:
            return self._go_on(self._last(self._event), found, row, time)
        if found is None:
            self._pending = None
            return self._settle(self.row)
        self._pending = pending = found if self._pending is None else self._pending.joined(found)
        if pending.end - pending.start >= policy.min_duration:
            return self._fire(replace(pending, fired=row), row)
        return self._settle(pending.start)

    def _go_on(self, last: Segment, found: Segment | None, row: int, time: Any) -> list[Change]:
        """Add a row while an event fires; ``found`` if it is above the end threshold."""
        if found is not None:
            self._put(last.joined(found))
            return self._separate(row)
        if row - last.last <= self.policy.keep_firing:
            self._put(last.held(row, time))
            return []
        return self._resolve(row) + self._settle(self.row)

    def _fire(self, new: Segment, row: int) -> list[Change]:
        """Reopen the event, gather the new segment into it, or begin another one."""
        event, self._pending = self._event, None
        if event is None:
            return self._begin(new, row)
        last = self._last(event)
        if not self._is_cut and last.goes_on_with(new, self.policy):
            self._put(last.joined(new))
        elif self._flood.holds:
            if not self._gathered:
                self._flood.gather(event.score)
            self._event, self._part = self._whole(event), new
            self._gathered, self._is_cut = self._gathered + 1, False
        else:
            return self._finalise(row) + self._begin(new, row)
        self._is_firing = True
        return self._separate(row) or [Change("reopened", row, self._made(self._event or event))]

    def _begin(self, new: Segment, row: int) -> list[Change]:
        self._count += 1
        self._event, self._is_firing = new, True
        self._part, self._gathered, self._is_cut = None, 0, False
        self._flood.fire(row, new.score)
        return [Change("fired", row, self._made(new))]

    def _separate(self, row: int) -> list[Change]:
        """Begin the segment gathered last as an event of its own, if it has become too strong."""
        part, event = self._part, self._event
        if event is None or part is None or not self._flood.is_outgrown_by(part.score):
            return []
        self._part, self._gathered, self._is_firing = None, self._gathered - 1, False
        final = Change("final", row, self._made(event))
        return [final, *self._begin(replace(part, fired=row), row)]

    def _resolve(self, row: int) -> list[Change]:
        if not self._is_firing or self._event is None:
            return []
        self._is_firing = False
        return [Change("resolved", row, self._made(self._event))]

    def _settle(self, start: int) -> list[Change]:
        """Make the event final if one that begins at ``start`` can no longer be the same."""
        event = self._event
        if event is None or self._is_firing or start - self._last(event).end <= self._reach:
            return []
        return self._finalise(self.row - 1)

    def _finalise(self, row: int) -> list[Change]:
        if self._event is None:
            return []
        change = Change("final", row, self._made(self._event))
        self._flood.end(self._event.score)
        self._event, self._is_firing = None, False
        self._part, self._gathered, self._is_cut = None, 0, False
        return [change]

    def _pass(self, rows: int, unscored: bool) -> list[Change]:
        """Add rows in which nothing begins; with ``unscored`` the first has no score."""
        if unscored:
            return self.skip()
        event, before = self._event, self.row
        self.row += rows
        if event is None or self.row - self._last(event).end <= self._reach:
            return []
        return self._finalise(max(before, self._last(event).end + self._reach))

    # -- the event -----------------------------------------------------------------------------

    def _last(self, event: Segment) -> Segment:
        """Return the part of the event that fires, or fired last."""
        return self._part or event

    def _put(self, segment: Segment) -> None:
        """Replace it."""
        if self._part is None:
            self._event = segment
        else:
            self._part = segment

    @property
    def _reach(self) -> int:
        """Rows after which another segment can no longer belong to the event."""
        return self._flood.period if self._flood.holds else self.policy.reach

    def _whole(self, event: Segment) -> Segment:
        return event if self._part is None else event.joined(self._part)

    def _made(self, event: Segment) -> AlarmEvent:
        whole = self._whole(event)
        more = f"; {self._gathered} more gathered here" if self._gathered else ""
        reason = f"alarms far beyond the budget, and scores as a whole are higher than usual{more}"
        return AlarmEvent(
            whole.start, whole.end, whole.peak, whole.score, whole.channels(self._names, self._top),
            number=self._count, fired=whole.fired, rows=whole.rows,
            severity=self.policy.severity(peak=whole.score, rows=whole.rows),
            status="firing" if self._is_firing else "resolved", vehicle=self.vehicle,
            begins=whole.begins, ends=whole.ends, drift=self._flood.holds,
            reason=reason if self._flood.holds else "", gathered=self._gathered,
        )  # fmt: skip

    # -- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values.

        ==========  ========================================================================
        version     of this layout
        policy      what the machine was made with; another one is refused
        row, count  rows and events so far
        pending     rows above the start threshold that have not fired, as a :class:`Segment`
        event       the event that is not final, the same way, without ``part``
        firing      whether it fires
        part        the segment that a flood of alarms has gathered into it last
        gathered    how many there were
        cut         whether rows without a score, or a cut, came since then
        threshold   of :class:`AdaptiveThreshold`
        flood       of :class:`AlarmFlood`, None without a budget
        ==========  ========================================================================
        """
        state = {
            "version": VERSION, "policy": self.policy.to_json(), "row": self.row,
            "count": self._count, "firing": self._is_firing, "gathered": self._gathered,
            "cut": self._is_cut, "threshold": self._threshold.state(), "flood": self._flood.state(),
        }  # fmt: skip
        segments = {"pending": self._pending, "event": self._event, "part": self._part}
        return state | {name: one and asdict(one) for name, one in segments.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raise an error, and change nothing, if it does not fit.

        The error is a :class:`~axonad.errors.ModelFileError` for a state of another version or
        policy, else a KeyError, TypeError or ValueError.
        """
        if check_entries("the state of its alarms", state).get("version") != VERSION:
            raise ModelFileError(
                "the state of its alarms was saved by another version of axonad; begin a new state"
            )
        if AlarmPolicy.from_json(state["policy"]) != self.policy:
            raise ModelFileError(
                "the state was saved with another alarm policy; use the model and options it was "
                "saved with, or begin a new state"
            )
        channels = None if self._names is None else len(self._names)
        row, count, gathered = check_counts(
            "row, count and gathered", [state[name] for name in ("row", "count", "gathered")]
        )
        firing, is_cut = _flags([state["firing"], state["cut"]])
        pending, event, part = (
            Segment.from_json(state[name], channels=channels)
            for name in ("pending", "event", "part")
        )
        if any(one.end > row for one in (pending, event, part) if one is not None):
            raise ValueError("its event does not fit its rows")
        if (event is None and (firing or gathered)) or (part is not None) > gathered:
            raise ValueError("its event does not fit what it has gathered")
        threshold, flood = AdaptiveThreshold(self.policy), AlarmFlood(self.policy)
        threshold.restore(state["threshold"])
        flood.restore(state["flood"])
        self.row, self._count, self._pending, self._event = row, count, pending, event
        self._is_firing, self._part, self._gathered = firing, part, gathered
        self._is_cut, self._threshold, self._flood = is_cut, threshold, flood


def _flags(values: list[Any]) -> list[bool]:
    if any(type(value) is not bool for value in values):
        raise ValueError(f"its flags must be true or false, got {values!r:.60}")
    return values


def _largest(one: list[float] | None, other: list[float] | None) -> list[float] | None:
    """Return the larger value of each channel."""
    if one is None or other is None:
        return one if other is None else other
    return list(map(max, one, other))
