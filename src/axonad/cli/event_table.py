"""Events as ``axonad score`` prints them: how many, the strongest, bad data, drift."""

from __future__ import annotations

from axonad.alarmed import SHOWN, EventList, TimedEvent, strongest_of
from axonad.alarms.event import ANOMALY, AlarmEvent
from axonad.cli.terminal import plain_table, print_line, print_table
from axonad.report.drift_sentence import drift_sentence
from axonad.report.times import format_time


def print_events(found: EventList) -> None:
    """Print the number of events and the strongest of them."""
    print_line(f"{count_events(found.count)} in {found.steps} steps")
    if found.count:
        strongest = strongest_of(found.events)
        _print_table(strongest, "score")
        for timed in strongest:
            if timed.event.why is not None:
                print_line(f"{format_time(timed.begins)}: {timed.event.why.sentence}")
        if found.count > len(strongest):
            print_line(f"(the {len(strongest)} strongest of {found.count})")
    if found.data:
        print_line(f"{count_events(len(found.data))} of bad data, beside the score")
        _print_table(found.data[:SHOWN], "reason")
        if len(found.data) > SHOWN:
            print_line(f"(the first {SHOWN} of {len(found.data)})")
    for timed in [*found.drift, *(one for one in found.events if _gathers(one))]:
        print_line(drift_sentence(timed))
    during = sum(isinstance(e.event, AlarmEvent) and e.event.drift for e in found.events)
    if during:
        kept, every = len(found.events), found.count
        print_line(
            f"{during} of {f'{kept}' if kept == every else f'the {kept} strongest'} "
            "events fell into a drift"
        )


def _print_table(events: list[TimedEvent], last: str) -> None:
    """Print events with their times, severity if they have one, score or reason, and channels."""
    has_severity = any(isinstance(timed.event, AlarmEvent) for timed in events)
    has_drift = any(isinstance(e.event, AlarmEvent) and e.event.drift for e in events)
    severity = ["severity"] if has_severity else []
    severity += ["drift"] if has_drift else []
    numeric = ("from", "to", "score")
    table = plain_table("from", "to", *severity, last, "channels", numeric=numeric)
    for timed in events:
        event = timed.event
        words = [f"{event.score:.1f}"]
        if isinstance(event, AlarmEvent):
            drift = ["drift" if event.drift else ""] if has_drift else []
            words = [event.severity, *drift, words[0] if event.kind == ANOMALY else event.reason]
        begins, ends = format_time(timed.begins), format_time(timed.ends)
        table.add_row(begins, ends, *words, ", ".join(event.channels))
    print_table(table)


def _gathers(timed: TimedEvent) -> bool:
    """Return whether an event gathers those that came far beyond the budget."""
    return isinstance(timed.event, AlarmEvent) and bool(timed.event.reason)


def count_events(count: int) -> str:
    """Return a number of events in words."""
    return f"{count} event{'s' if count != 1 else ''}"
