"""Events that say whether drift held while they were firing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from axonad.alarms.drift import DriftWatch
from axonad.alarms.event import AlarmEvent, Change
from axonad.alarms.setup import AlarmSetup
from axonad.data.frames import Names


def watch_drift(
    setup: AlarmSetup | None, *, names: Names = None, vehicle: str | int | None = None
) -> DriftWatch | None:
    """Return what watches a new stream for drift; None if the setup cannot judge any."""
    if setup is None or setup.drift is None or not setup.drift.statistics:
        return None
    return DriftWatch(setup.drift, names=names, vehicle=vehicle)


def mark_event(event: AlarmEvent, drift: DriftWatch | None) -> AlarmEvent:
    """Return the event, marked if drift was known to hold in one of its rows."""
    if drift is None or not drift.holds(event.start, event.end):
        return event
    return replace(event, drift=True)


def mark(changes: Iterable[Change], drift: DriftWatch | None) -> list[Change]:
    """Return changes with their events marked."""
    return [replace(change, event=mark_event(change.event, drift)) for change in changes]
