"""Score a recording for the page: scores, events, explanations and bad data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from axonad.alarmed import RecordedEvents, TimedEvent
from axonad.alarms.scored import explained_at_end
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.explanation import Explanation
from axonad.report.drift_sentence import drift_sentence

EXPLAINED = 30  # events of a recording


@dataclass(frozen=True, eq=False)
class Scored:
    """A recording and everything that was found in it.

    ``raw`` is the series before missing values were filled. The strongest events are explained, if
    the model can do that. ``drift`` are sentences about drift; None if it was not judged.
    """

    series: Series
    raw: Series
    found: Explanation
    events: Sequence[TimedEvent]
    problems: Sequence[TimedEvent] = ()
    drift: Sequence[str] | None = None
    notes: Sequence[str] = ()


def score_series(
    detector: Detector,
    series: Series,
    *,
    raw: Series | None = None,
    found: Explanation | None = None,
    explained: int = EXPLAINED,
    hold: int = 0,
) -> Scored:
    """Return everything the page needs about a recording.

    The ``explained`` strongest events are explained. ``raw`` is the series before missing values
    were filled, for at most ``hold`` rows; default: none were. ``found`` are its scores, if they
    are known already.
    """
    found = detector.explain(series) if found is None else found
    raw = series if raw is None else raw
    setup = detector.alarm_setup_
    if setup is not None:
        found = explained_at_end(detector, series, found)
    recording = RecordedEvents(detector, hold=hold, keep_all=True)
    recording.see(raw)
    recording.add(found, times=series.times)
    listed = recording.finish()
    judges_drift = setup is not None and setup.drift is not None
    drift = [drift_sentence(event) for event in listed.drift] if judges_drift else None
    start = None if setup is None else setup.policy.start
    events, notes = _explain_strongest(found, listed.events, most=explained, threshold=start)
    return Scored(series, raw, found, events, listed.data, drift=drift, notes=notes)


def _explain_strongest(
    found: Explanation, events: list[TimedEvent], *, most: int, threshold: float | None
) -> tuple[list[TimedEvent], list[str]]:
    """Return the events, the strongest with their explanation, and why there is none."""
    ranked = sorted(range(len(events)), key=lambda i: (-events[i].event.score, i))[:most]
    try:
        explained = found.explained([events[i].event for i in ranked], threshold=threshold)
    except ConfigError as error:  # such as a model that was saved by an earlier version
        return events, [f"its events are not explained: {error}"]
    told = dict(zip(ranked, explained, strict=True))
    return [replace(one, event=told.get(i, one.event)) for i, one in enumerate(events)], []
