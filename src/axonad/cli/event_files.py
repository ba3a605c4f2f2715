"""Files of events: one row or object per event, with times, steps, score and channels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from axonad import atomic
from axonad.alarmed import TimedEvent
from axonad.alarms.event import AlarmEvent
from axonad.cli.output_files import write_table
from axonad.explain import Why
from axonad.stream.vehicles import plain_time

EVENT_ENDINGS = (".csv", ".json")
COLUMNS = ("from", "to", "start", "end", "peak", "score", "channels")
ALARM_COLUMNS = (*COLUMNS, "class", "severity", "reason", "fired", "drift")
WHY_COLUMNS = ("kind", "sentence", "blamed", "vanishes")


def write_events(
    path: Path, events: Iterable[TimedEvent], *, alarms: bool = False, explained: bool = False
) -> None:
    """Write events as CSV, with channels separated by spaces, or as a JSON list.

    With ``alarms`` they are those of an alarm policy, with class, severity, reason, the step at
    which they fired, and whether drift held. If they are ``explained``, JSON has all of ``why``;
    CSV has the kind, the sentence, the channels to blame, and whether the event vanishes with these
    as expected.
    """
    events = list(events)
    records = [event_record(event) for event in events]
    if path.suffix.lower() == ".json":
        with atomic.replacement(path) as temporary:
            temporary.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
        return
    names = ALARM_COLUMNS if alarms else COLUMNS
    columns = {name: [record[name] for record in records] for name in names}
    columns["channels"] = [" ".join(channels) for channels in columns["channels"]]
    if explained:
        whys = [why_cells(event.event.why) for event in events]
        columns |= {name: [cells[i] for cells in whys] for i, name in enumerate(WHY_COLUMNS)}
    write_table(path, columns)


def event_record(timed: TimedEvent) -> dict[str, Any]:
    """Return an event as JSON values; ``end`` is the last step, as ``to`` is its time."""
    event = timed.event
    record = {
        "from": plain_time(timed.begins),
        "to": plain_time(timed.ends),
        "start": event.start,
        "end": event.end - 1,
        "peak": event.peak,
        "score": plain_time(event.score),
        "channels": list(event.channels),
    }
    if isinstance(event, AlarmEvent):
        record |= {
            "class": event.kind,
            "severity": event.severity,
            "reason": event.reason or None,
            "fired": event.fired,
            "drift": event.drift,
        }
    if event.why is not None:
        record["why"] = event.why.to_json()
    return record


def why_cells(why: Why | None) -> tuple[Any, ...]:
    """Return the cells of ``WHY_COLUMNS``, empty for an event without an explanation."""
    if why is None:
        return (None,) * len(WHY_COLUMNS)
    vanishes = "yes" if why.counterfactual.vanishes else "no"
    return why.kind, why.sentence, " ".join(why.channels), vanishes
