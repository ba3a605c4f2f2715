"""An event told as the report tells it: what was expected, which relation broke, what kind."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Lock

import numpy as np

from axonad.alarmed import TimedEvent
from axonad.alarms.event import ANOMALY, DATA, DRIFT, AlarmEvent
from axonad.alarms.scored import explained_at_end
from axonad.data.holding import HOLD_LIMIT, hold_missing
from axonad.data.raster import SECOND
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import ConfigError, DataWarning, InputError
from axonad.explain.scene import AROUND
from axonad.live.engine.contract import Engine
from axonad.live.record import Course, EventRecord
from axonad.report.page.axis import Axis
from axonad.report.page.content import EventView
from axonad.report.page.gather import view_event
from axonad.report.page.scoring import Scored

KEPT = 64  # explanations
MARGIN = 600  # rows before and after an event, if the explanation does not say
LONGEST = 4_000  # rows of an event
KIND_WORDS = {DATA: "bad data", DRIFT: "drift"}


Explain = Callable[[Course, EventRecord], EventView]
"""Tells an event by the rows around it."""


class Explainer:
    """Explains events by the rows around them; the last explanations are kept.

    ``detector`` is used by one thread at a time. Give it one of its own, not that of the engine.
    ``hold_limit`` is the number of rows in which a missing value was held.
    """

    def __init__(self, detector: Detector, *, hold_limit: int = HOLD_LIMIT) -> None:
        self.detector = detector
        self._hold_limit = hold_limit
        self.around = 2 * detector.history + AROUND
        """Rows before and after an event that an explanation looks at."""
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, int, int], EventView] = OrderedDict()

    def __call__(self, course: Course, event: EventRecord) -> EventView:
        """Return the event with its explanation."""
        key = (event.id, event.ends, len(course))
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self._explain(course, event)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def _explain(self, course: Course, event: EventRecord) -> EventView:
        detector = self.detector
        raw = Series(
            values=course.values.astype(np.float64),
            channels=detector.channel_names or tuple(map(str, range(course.values.shape[1]))),
            times=course.times.astype("datetime64[us]"),
            name=event.vehicle,
        )
        found_event = _placed(course, event)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # it was scored without a word about it
            series = hold_missing(raw, max_hold=self._hold_limit, interval=detector.interval_)
            found = explained_at_end(detector, series, detector.explain(series))
            if event.kind == ANOMALY:
                setup = detector.alarm_setup_
                start = None if setup is None else setup.policy.start
                with suppress(ConfigError):  # a model without a training sample
                    (found_event,) = found.explained([found_event], threshold=start)
        axis = Axis.of(series.times, len(series), usual=detector.interval_)
        ends = course.times[[found_event.start, found_event.end - 1]].astype("datetime64[us]")
        timed = TimedEvent(found_event, *ends)
        shown = series if event.kind == ANOMALY else raw
        scored = Scored(shown, raw, found, [timed])
        view = view_event(detector, scored, axis, event.number, timed)
        if event.kind == ANOMALY:
            return view
        return replace(view, kind=KIND_WORDS[event.kind], sentence=told_by_reason(event), parts=())


def rows_around(engine: Engine, explain: Explain, event: EventRecord) -> Course | None:
    """Return the rows that explain an event; None if they are no longer stored."""
    around = int(getattr(explain, "around", MARGIN))
    margin = round(around * (engine.model.interval or 1.0) * SECOND)
    start, end = event.begins - margin, event.ends + margin
    return engine.course(event.vehicle, start, end, rows=2 * around + LONGEST)


def sentence_of(engine: Engine, explain: Explain | None, event: EventRecord) -> str:
    """Return the sentence that the page of an event tells; empty if there is none."""
    if event.kind != ANOMALY:
        return told_by_reason(event)
    course = None if explain is None else rows_around(engine, explain, event)
    return "" if explain is None or course is None else explain(course, event).sentence


def told_by_reason(event: EventRecord) -> str:
    """Return a sentence about an event of bad data or drift."""
    if event.kind == DRIFT:
        return f"The data no longer looks like training: {event.reason or 'drift'}."
    reason = event.reason or "bad data"
    return f"{', '.join(event.channels)}: {reason}; these values are no measurements."


def _placed(course: Course, event: EventRecord) -> AlarmEvent:
    """Return the event with the numbers of its rows in a course."""
    start = int(np.searchsorted(course.times, event.begins))
    end = int(np.searchsorted(course.times, event.ends, side="right"))
    if start >= end:
        raise InputError("the rows of this event are no longer stored")
    peak = int(np.clip(np.searchsorted(course.times, event.peak), start, end - 1))
    return AlarmEvent(
        start, end, peak, event.score, event.channels,
        number=event.number, kind=event.kind, severity=event.severity, reason=event.reason,
    )  # fmt: skip
