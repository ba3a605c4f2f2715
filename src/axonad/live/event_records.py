"""Changes of events as the alarms report them, made into records that are stored and told."""

from __future__ import annotations

from typing import Any

from axonad.alarms.event import Change
from axonad.data.raster import SECOND
from axonad.live.record import EventRecord, Notice, event_id
from axonad.live.vehicle import VehicleStream


def record_change(vehicle: VehicleStream, change: Change) -> Notice:
    """Return what happened to an event of a vehicle, with the event as it is stored."""
    event = change.event
    begins = _micros(event.begins, vehicle.generation)
    ends = _micros(event.ends, begins)
    id = event_id(vehicle.name, event.kind, event.number, vehicle.generation)
    record = EventRecord(
        id=id,
        vehicle=vehicle.name,
        number=event.number,
        kind=event.kind,
        severity=event.severity,
        status=event.status,
        begins=begins,
        ends=ends,
        fired=_time_of(vehicle, event.fired, event.start, begins),
        peak=_time_of(vehicle, event.peak, event.start, begins),
        score=float(event.score),
        channels=tuple(event.channels),
        reason=event.reason,
        drift=event.drift,
        final=change.what == "final",
    )
    return Notice(f"{id}/{change.what}/{change.row}", change.what, record)


def _micros(seconds: Any, default: int) -> int:
    return default if seconds is None else round(float(seconds) * SECOND)


def _time_of(vehicle: VehicleStream, row: int, start: int, begins: int) -> int:
    """Return the time of a row of an event; rows follow each other without a gap within one."""
    if vehicle.raster.interval is not None:
        return begins + (row - start) * vehicle.raster.interval
    time = vehicle.recent.time_of(row)
    return begins if time is None else time
