"""The part of a detector that has alarms: its events, and a budget of false ones set in ``fit``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from axonad.alarms.budget import Budget
from axonad.alarms.calibration import Calibration
from axonad.alarms.event import ANOMALY, DATA, AlarmEvent, Change
from axonad.alarms.finder import EventFinder
from axonad.alarms.fitting import calibrate_fit, seconds_of
from axonad.alarms.machine import TOP, Values, Vehicle
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.scored import placed_at_end, without_lead
from axonad.config import check_float
from axonad.data.clock import Clock
from axonad.data.frames import Matrix, match_channels
from axonad.data.holding import recorded_values
from axonad.data.series import Series
from axonad.data.timing import to_seconds
from axonad.explanation import Explanation
from axonad.saving import Saving
from axonad.threshold import Event

SHOWN = 20  # strongest events that are listed; the others are only counted
MAX_KEPT = 100  # with more events, all but the strongest are dropped


class Alarmed(Saving):
    """Base of a detector with alarms.

    Parameters
    ----------
    alarm_budget
        Accepted false events, such as ``"1 per hour"`` or ``"3 per 10000 steps"``. Then ``fit``
        chooses an alarm policy that keeps to it on scores of rows that were held out, and learns
        rules for bad data; ``alarm_setup_`` has both. A detector without held-out training scores
        (``holds_out``) is fitted five more times for this. Scores are placed at the end of windows,
        as :meth:`set_alarms` says.
    seconds_per_step
        Time between two rows, for budgets per hour or day. Default: by the times of the data.
    """

    alarm_budget: str | None
    seconds_per_step: float | None

    divides: ClassVar[bool] = False
    """Whether ``_fit`` keeps its windows within ``recordings_``; if not, it is given one series."""
    holds_out: ClassVar[bool] = False
    """Whether ``decision_scores_`` are scores of rows that the detector had not learned from."""
    can_score_without: ClassVar[bool] = False
    """Whether it learns in seconds, so that data without some channels can be scored by one
    :mod:`fitted without them <axonad.without_channels>`."""

    def changes_without(self) -> Mapping[str, Any]:
        """Return the parameters that differ in a detector fitted without some channels."""
        return {}

    def events(
        self,
        X: Any,
        *,
        gap: int = 0,
        top: int = TOP,
        policy: AlarmPolicy | None = None,
        why: bool = False,
    ) -> list[Event]:
        """Return the alarms in ``X`` as events: when, how strong, which ``top`` channels.

        They are those of ``policy``, by default that of ``alarm_setup_``: each an
        :class:`~axonad.alarms.event.AlarmEvent`, by scores at the end of windows, whatever
        ``align`` is; ``gap`` is not used. Without any policy they are the runs of scores above
        ``threshold_``, joined if at most ``gap`` steps apart. ``why`` explains each.
        """
        if policy is None and self.alarm_setup_ is not None:
            policy = self.alarm_setup_.policy
        if policy is None:
            found = self.explain(X)
            events, start = found.events(gap=gap, top=top), self.threshold_
        else:
            found = placed_at_end(self).explain(X)
            recording = RecordedEvents(self, policy=policy, top=top, keep_all=True)
            recording.see(X)
            recording.add(found, times=X.times if isinstance(X, Series) else None)
            events, start = [one.event for one in recording.finish().events], policy.start
        return found.explained(events, threshold=start) if why else events

    def event_finder(
        self,
        *,
        policy: AlarmPolicy | None = None,
        top: int = TOP,
        hold: int = 0,
        vehicle: Vehicle = None,
    ) -> EventFinder:
        """Return what finds the events of a new stream or recording from its scores.

        They are those of ``policy``, by default that of ``alarm_setup_``; bad data and drift are
        judged if the setup can judge them. Without any policy they are the runs of scores above
        ``threshold_``: a score that dips below it for a quarter of a window is the same event.
        """
        setup, names = self.alarm_setup_, self.channel_names
        if setup is None:
            shape = AlarmPolicy(start=self.threshold_, merge_gap=self.history // 4)
            return EventFinder(policy or shape, names=names, top=top, vehicle=vehicle)
        return EventFinder(
            policy or setup.policy, rules=setup.rules, drift=setup.drift, names=names, top=top,
            hold=hold, vehicle=vehicle,
        )  # fmt: skip

    @abstractmethod
    def fit(self, X: Any, y: object = None) -> Self:
        """Learn what normal looks like from ``X`` (time, channels) and return self."""

    @abstractmethod
    def explain(self, X: Any, *, blame: bool = True) -> Explanation:
        """Return scores, components and, with ``blame``, a value per channel, in one pass."""

    @property
    def scores_at_end(self) -> bool:
        """Whether a window's score is that of its last row."""
        return self.history == 1 or getattr(self, "align", "end") == "end"

    @property
    def lead(self) -> int:
        """Number of rows at the beginning whose score is that of a window that ends later."""
        return self.history - 1 if self.scores_at_end else 0

    def _prepare_alarms(self, recordings: Sequence[Any], interval: float | None) -> None:
        """Raise an error before any training if the recordings cannot serve the budget."""
        if self.alarm_budget is None:
            return
        Budget.parse(self.alarm_budget).steps(seconds_of(self, recordings, interval))
        if "align" in self.changeable:
            self.set_params(align="end")

    def _calibrate_alarms(self, recordings: Sequence[Any], X: Matrix) -> Calibration | None:
        """Set the alarms of a detector just fitted on ``X``, the rows of recordings.

        None without a budget.
        """
        if self.alarm_budget is None:
            return None
        setup, found = calibrate_fit(self, recordings, X, self.alarm_budget)
        self.set_alarms(setup)
        return found

    def _check_params(self) -> None:
        super()._check_params()
        if self.alarm_budget is not None:
            Budget.parse(self.alarm_budget)
        if self.seconds_per_step is not None:
            check_float("seconds_per_step", self.seconds_per_step, above=0)


# -- recordings ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TimedEvent:
    """An event with the times of its first and last step, or their numbers without times."""

    event: Event
    begins: Any
    ends: Any

    @classmethod
    def of(cls, event: AlarmEvent, *, has_times: bool) -> Self:
        """Return an event with the times it has, or with its steps."""
        if not has_times:
            return cls(event, event.start, event.end - 1)
        begins, ends = (np.nan if t is None else t for t in (event.begins, event.ends))
        return cls(event, begins, ends)


@dataclass(frozen=True)
class EventList:
    """Number of events and of steps, and the events, or the strongest of them, by time."""

    count: int
    steps: int
    events: list[TimedEvent]
    data: list[TimedEvent] = field(default_factory=list)
    """Events of bad data, if the model has rules for them."""
    drift: list[TimedEvent] = field(default_factory=list)
    """Events of drift, if the model has a reference for them."""


class RecordedEvents:
    """Finds the events of a recording, given at once or part by part, as a stream would.

    Without ``keep_all`` only the strongest are kept, the others counted. The other parameters are
    those of :meth:`Alarmed.event_finder`.
    """

    def __init__(
        self,
        detector: Alarmed,
        *,
        policy: AlarmPolicy | None = None,
        top: int = TOP,
        hold: int = 0,
        keep_all: bool = False,
    ) -> None:
        self._detector, self._keep_all = detector, keep_all
        self._finder = detector.event_finder(policy=policy, top=top, hold=hold)
        self._is_alarmed = policy is not None or detector.alarm_setup_ is not None
        self._clock, self._has_times = Clock(), False
        self._seen = 0
        self._raw: list[Values] = []  # rows that wait for their scores
        self._breaks: list[int] = []  # rows before which time breaks
        self._count = self._steps = 0
        self._kept: list[TimedEvent] = []
        self._data: list[TimedEvent] = []
        self._drift: list[TimedEvent] = []

    def see(self, X: Any) -> None:
        """Add the next rows as they were recorded, before missing values were filled."""
        if not self._is_alarmed or len(X) == 0:
            return
        detector = self._detector
        values, names = recorded_values(X)
        expected, count = detector.channel_names, detector.n_features_in_
        matched = match_channels(values, names, expected=expected, count=count)
        self._raw.append(matched.astype(np.float64))
        seconds = to_seconds(X.times) if isinstance(X, Series) and X.times is not None else None
        if seconds is not None:
            breaks = self._clock.find_breaks(seconds, detector.interval_)
            self._breaks += [self._seen + row for row in breaks]
            self._clock.advance_many(seconds, detector.interval_)
        self._seen += len(values)

    def add(self, found: Explanation, *, times: Any = None) -> None:
        """Add the scores of the next rows, and their times."""
        rows, first = len(found.scores), self._steps
        self._steps, self._has_times = first + rows, times is not None
        scores, raw, cuts = found.scores, None, found.cuts
        if self._is_alarmed:
            scores = without_lead(scores, lead=found.lead, cuts=cuts)
            waiting = np.concatenate(self._raw)
            raw, self._raw = waiting[:rows], [waiting[rows:]]
            cuts = tuple(at - first for at in self._breaks if first <= at < first + rows)
        attribution = None if found.blame is None else found.blame.__getitem__
        self._take(
            self._finder.add(scores, raw=raw, times=times, cuts=cuts, attribution=attribution)
        )

    def finish(self) -> EventList:
        """End the last events and return all."""
        self._take(self._finder.finish())
        events = self._kept if self._keep_all else strongest_of(self._kept)
        data = sorted(self._data, key=lambda one: one.event.start)
        return EventList(self._count, self._steps, events, data, self._drift)

    def _take(self, changes: list[Change]) -> None:
        for event in (change.event for change in changes if change.what == "final"):
            timed = TimedEvent.of(event, has_times=self._has_times)
            if event.kind != ANOMALY:
                (self._data if event.kind == DATA else self._drift).append(timed)
                continue
            self._count += 1
            self._kept.append(timed if self._is_alarmed else replace(timed, event=event.plain))
            if len(self._kept) > MAX_KEPT and not self._keep_all:
                self._kept = strongest_of(self._kept)


def strongest_of(events: list[TimedEvent], most: int = SHOWN) -> list[TimedEvent]:
    """Return the events with the highest scores, in order of time."""
    best = sorted(events, key=lambda found: -found.event.score)[:most]
    return sorted(best, key=lambda found: found.event.start)
