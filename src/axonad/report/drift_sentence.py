"""A drift in words, with its times."""

from __future__ import annotations

from axonad.alarmed import TimedEvent
from axonad.alarms.drift_words import sentence
from axonad.alarms.event import AlarmEvent
from axonad.report.times import format_time


def drift_sentence(timed: TimedEvent) -> str:
    """Return the verdict of a drift with its times, or its steps if it has none."""
    event = timed.event
    if not isinstance(event, AlarmEvent):
        raise TypeError(f"a drift is an AlarmEvent, got {type(event).__name__}")
    step = "step " if event.begins is None else ""
    since, until = step + format_time(timed.begins), step + format_time(timed.ends)
    return sentence(event, since=since, until=until)
