"""The sentences of the page: verdicts, counts, and what a counterfactual showed."""

from __future__ import annotations

from collections import Counter

from axonad.alarms.event import SEVERITIES
from axonad.explain import Counterfactual
from axonad.report.amounts import format_duration
from axonad.report.page.content import Card, EventView, RecordingView


def verdict(recording: RecordingView, card: Card) -> str:
    """Return what a recording amounts to: events, length, budget, drift, bad data."""
    return " ".join(
        part
        for part in (
            _events(recording),
            _budget(recording, card),
            drift_words(recording),
            _problems(recording),
        )
        if part
    )


def count(number: int, thing: str) -> str:
    """Return a number of things.

    >>> count(1, "event"), count(1200, "event"), count(0, "event")
    ('1 event', '1,200 events', 'no events')
    """
    words = f"{number:,}" if number else "no"
    return f"{words} {thing}{'' if number == 1 else 's'}"


def amount(recording: RecordingView) -> str:
    """Return the scored time of a recording, or its rows where the time is not known."""
    if recording.hours is None:
        return count(recording.rows, "row")
    return format_duration(recording.hours * 3600)


def drift_words(recording: RecordingView, *, short: bool = False) -> str:
    """Return what is known about drift; ``short`` for a column of that name."""
    if recording.drift is None:
        return "not judged" if short else "Drift was not judged."
    if not recording.drift:
        return "none" if short else "No drift."
    return " ".join(recording.drift)


def describe_counterfactual(found: Counterfactual) -> str:
    """Return in a sentence what became of an event without the blamed channels' deviation."""
    if not found.vanishes:
        return (
            f"No small set of channels explains the event alone ({count(found.tried, 'set')} "
            f"tried): with the best of them as expected, the score would still peak at "
            f"{found.score_after:.3g} instead of {found.score_before:.3g}."
        )
    return (
        f"If {_listed(found.channels)} had been as expected, there would be no event: the score "
        f"would peak at {found.score_after:.3g} instead of {found.score_before:.3g}."
    )


def heading(event: EventView) -> str:
    """Return the kind of an event, or what is known instead of it."""
    return event.kind if event.kind and event.kind != "unknown" else "unusual"


def telling(event: EventView) -> str:
    """Return the sentence of an event; without an explanation, which channels are blamed."""
    if event.sentence:
        return event.sentence if event.sentence.endswith(".") else f"{event.sentence}."
    if event.channels:
        return f"{_listed(event.channels)}: unlike anything in training."
    return "Unlike anything in training; the detector does not say in which channels."


def _events(recording: RecordingView) -> str:
    where = amount(recording)
    if not recording.events:
        return f"Nothing unusual in {where}."
    by_severity = Counter(event.severity for event in recording.events)
    kinds = [f"{by_severity[name]} {name}" for name in reversed(SEVERITIES) if by_severity[name]]
    details = f" ({', '.join(kinds)})" if kinds else ""
    return f"{count(len(recording.events), 'event')}{details} in {where}."


def _budget(recording: RecordingView, card: Card) -> str:
    if card.budget is None:
        return ""
    if recording.expected_events is None or not recording.events:
        return f"Budget: {card.budget}."
    return (
        f"The budget of {card.budget} accepts {recording.expected_events:.2g} false "
        "events in this time."
    )


def _problems(recording: RecordingView) -> str:
    return f"{count(len(recording.problems), 'data problem')}.".capitalize()


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
