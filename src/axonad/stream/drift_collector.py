"""Drift in a long series, part by part: its values as they were recorded, then their scores."""

from __future__ import annotations

from axonad.alarms.drift import DriftWatch
from axonad.alarms.drift_marks import mark_event, watch_drift
from axonad.alarms.event import AlarmEvent, Change
from axonad.alarms.scored import without_lead
from axonad.data.clock import Clock
from axonad.data.frames import Matrix
from axonad.data.series import Series
from axonad.data.timing import to_seconds
from axonad.detector import Detector
from axonad.explanation import Explanation
from axonad.stream.alarm_collector import timed
from axonad.stream.chunk_values import recorded
from axonad.stream.chunks import EventList, TimedEvent


class DriftCollector:
    """Finds the drifts of a series.

    Values come before their scores, which need rows that follow; they wait until then.
    """

    def __init__(self, watch: DriftWatch, detector: Detector) -> None:
        self._watch, self._detector = watch, detector
        self._clock, self._has_times = Clock(), False
        self._waiting: list[tuple[Series, Matrix, list[int]]] = []
        self._drifts: list[TimedEvent] = []

    def add(self, series: Series) -> None:
        """Add the next rows as they were recorded, with their missing values."""
        if len(series) == 0:
            return
        self._has_times = series.times is not None
        seconds, cuts = None if series.times is None else to_seconds(series.times), list[int]()
        if seconds is not None:
            cuts = self._clock.find_breaks(seconds, self._detector.interval_)
            self._clock.advance_many(seconds, self._detector.interval_)
        self._waiting.append((series, recorded(self._detector, series), cuts))

    def add_scores(self, found: Explanation) -> None:
        """Add the scores of the next rows."""
        scores = without_lead(found.scores, lead=found.lead)
        while len(scores):
            series, values, cuts = self._waiting.pop(0)
            rows = min(len(scores), len(values))
            times = None if series.times is None else series.times[:rows]
            self._take(self._watch.push_many(values[:rows], scores[:rows], times=times, cuts=cuts))
            if rows < len(values):
                later = [cut - rows for cut in cuts if cut >= rows]
                self._waiting.insert(0, (series.rows(rows), values[rows:], later))
            scores = scores[rows:]

    def finish(self, events: EventList) -> EventList:
        """End the last drift; return the events of the score marked, with the drifts beside."""
        self._take(self._watch.finish())
        marked = [
            TimedEvent(mark_event(one.event, self._watch), one.begins, one.ends)
            if isinstance(one.event, AlarmEvent)
            else one
            for one in events.events
        ]
        return EventList(events.count, events.steps, marked, events.data, self._drifts)

    def _take(self, changes: list[Change]) -> None:
        self._drifts += [timed(c.event, self._has_times) for c in changes if c.what == "final"]


def drift_collector(detector: Detector) -> DriftCollector | None:
    """Return what finds drift by the detector's reference; None if it has none."""
    watch = watch_drift(detector.alarm_setup_, names=detector.channel_names)
    return None if watch is None else DriftCollector(watch, detector)
