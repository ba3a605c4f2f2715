"""Changes of events as the alarms report them, made into records that are stored and told.

An event that resolves may fire again within the merge gap. For people it is firing until it is
final, so that a signal that flickers is one event with one beginning and one end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from axonad.alarms.event import Change
from axonad.data.raster import SECOND
from axonad.live.record import EventRecord, Notice, event_id
from axonad.live.vehicle import VehicleStream

FIRED, FIRING, RESOLVED = "fired", "firing", "resolved"


def record_change(vehicle: VehicleStream, change: Change) -> tuple[EventRecord, Notice | None]:
    """Return the event as it is stored, and what the sinks are told: that it fired or resolved."""
    event, is_final = change.event, change.what == "final"
    begins = _micros(event.begins, vehicle.generation)
    ends = _micros(event.ends, begins)
    id = event_id(vehicle.name, event.kind, event.number, vehicle.generation)
    record = EventRecord(
        id=id,
        vehicle=vehicle.name,
        number=event.number,
        kind=event.kind,
        severity=event.severity,
        status=RESOLVED if is_final else FIRING,
        begins=begins,
        ends=ends,
        fired=_time_of(vehicle, event.fired, event.start, begins),
        peak=_time_of(vehicle, event.peak, event.start, begins),
        score=float(event.score),
        channels=tuple(event.channels),
        reason=event.reason,
        drift=event.drift,
        final=is_final,
    )
    what = {"fired": FIRED, "final": RESOLVED}.get(change.what)
    return record, None if what is None else notice_of(record, what)


def ended(record: EventRecord) -> EventRecord:
    """Return an event that goes no further, because the state of its vehicle was lost."""
    return replace(record, status=RESOLVED, final=True)


def notice_of(record: EventRecord, what: str) -> Notice:
    """Return what the sinks are told of an event."""
    return Notice(f"{record.id}/{what}", what, record)


def _micros(seconds: Any, default: int) -> int:
    return default if seconds is None else round(float(seconds) * SECOND)


def _time_of(vehicle: VehicleStream, row: int, start: int, begins: int) -> int:
    """Return the time of a row of an event; rows follow each other without a gap within one."""
    if vehicle.raster.interval is not None:
        return begins + (row - start) * vehicle.raster.interval
    time = vehicle.recent.time_of(row)
    return begins if time is None else time
