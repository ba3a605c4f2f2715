"""Events of a model's alarm policy in a long series, part by part, and its events of bad data."""

from __future__ import annotations

from typing import Any

import numpy as np

from axonad.alarms.data_watch import DataWatch
from axonad.alarms.event import AlarmEvent, Change
from axonad.alarms.machine import AlarmMachine
from axonad.alarms.scored import without_lead
from axonad.data.clock import Clock
from axonad.data.series import Series
from axonad.data.timing import to_seconds
from axonad.detector import Detector
from axonad.explanation import Explanation
from axonad.stream.chunk_values import recorded
from axonad.stream.chunks import MAX_KEPT, EventList, TimedEvent, strongest_of


class AlarmCollector:
    """Finds the events of an alarm policy; see :meth:`Explanation.alarm_events`.

    Without ``keep_all`` only the strongest are kept, the others counted.
    """

    def __init__(self, machine: AlarmMachine, *, keep_all: bool = False) -> None:
        self._machine, self._keep_all = machine, keep_all
        self._kept: list[TimedEvent] = []
        self._count = self._steps = 0
        self._has_times = False

    def add(self, series: Series, found: Explanation) -> None:
        """Add the next part of the series."""
        scores = without_lead(found.scores, lead=found.lead)
        self._steps += len(series)
        self._has_times = series.times is not None
        self._take(
            self._machine.push_many(
                scores,
                attribution=None if found.blame is None else found.blame.__getitem__,
                times=series.times,
                cuts=found.cuts,
            )
        )

    def finish(self) -> EventList:
        """End the last event and return the list."""
        self._take(self._machine.finish())
        events = self._kept if self._keep_all else strongest_of(self._kept)
        return EventList(self._count, self._steps, events)

    def _take(self, changes: list[Change]) -> None:
        found = [timed(c.event, self._has_times) for c in changes if c.what == "final"]
        self._kept += found
        self._count += len(found)
        if len(self._kept) > MAX_KEPT and not self._keep_all:
            self._kept = strongest_of(self._kept)


class DataCollector:
    """Finds the events of bad data in a series as it was recorded, with its missing values.

    Time breaks as on a stream of the detector: where it runs backwards or leaps.
    """

    def __init__(self, watch: DataWatch, detector: Detector) -> None:
        self._watch, self._detector = watch, detector
        self._clock, self._has_times = Clock(), False
        self._events: list[TimedEvent] = []

    def add(self, series: Series) -> None:
        """Add the next part of the series."""
        if len(series) == 0:
            return
        values = recorded(self._detector, series)
        self._has_times = series.times is not None
        seconds = None if series.times is None else to_seconds(series.times)
        cuts: list[int] = []
        if seconds is not None:
            cuts = self._clock.find_breaks(seconds, self._detector.interval_)
            self._clock.advance_many(seconds, self._detector.interval_)
        self._take(self._watch.push_many(values, times=series.times, cuts=cuts))

    def finish(self) -> list[TimedEvent]:
        """End the last events and return all, by their beginning."""
        self._take(self._watch.finish())
        return sorted(self._events, key=lambda one: one.event.start)

    def _take(self, changes: list[Change]) -> None:
        self._events += [timed(c.event, self._has_times) for c in changes if c.what == "final"]


def data_collector(detector: Detector, *, hold: int = 0) -> DataCollector | None:
    """Return what finds bad data by the detector's rules; None if it has none.

    ``hold`` is the number of rows for which missing values are held, which are not missing so long.
    """
    setup = detector.alarm_setup_
    if setup is None or setup.rules is None:
        return None
    return DataCollector(DataWatch(setup.rules, hold=hold), detector)


def timed(event: AlarmEvent, has_times: bool) -> TimedEvent:
    """Return an event with the times it has, or with its steps."""
    if not has_times:
        return TimedEvent(event, event.start, event.end - 1)
    return TimedEvent(event, _known(event.begins), _known(event.ends))


def _known(time: Any) -> Any:
    return time if time is not None else np.nan
