"""Events as JSON, the same for REST, webhook and MQTT."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from axonad.live.links import event_link
from axonad.live.record import EventRecord

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso_time(micros: int) -> str:
    """Return a time as ISO 8601 text in UTC; times beyond the calendar are cut to its ends.

    >>> iso_time(1_700_000_000_250_000)
    '2023-11-14T22:13:20.250Z'
    """
    try:
        moment = EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        moment = datetime.max.replace(tzinfo=UTC) if micros > 0 else EPOCH
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def event_json(event: EventRecord, *, public_url: str = "") -> dict[str, Any]:
    """Return an event as JSON values, with times as text, and a link if there is an address."""
    link = event_link(public_url, event.id)
    return {
        "id": event.id,
        "vehicle": event.vehicle,
        "number": event.number,
        "kind": event.kind,
        "severity": event.severity,
        "status": event.status,
        "begins": iso_time(event.begins),
        "ends": iso_time(event.ends),
        "fired": iso_time(event.fired),
        "peak": iso_time(event.peak),
        "score": event.score,
        "channels": list(event.channels),
        "reason": event.reason,
        "sentence": event.sentence,
        "drift": event.drift,
        "final": event.final,
        "acknowledged": event.acknowledged,
        "shelved": event.shelved,
        "comments": [
            dict(comment) | {"time": iso_time(comment["time"])} for comment in event.comments
        ],
    } | ({"link": link} if link else {})
