"""Score a recording for the page: scores, events, explanations and bad data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axonad.alarms.drift_batch import find_drift
from axonad.alarms.drift_marks import mark_event
from axonad.alarms.scored import explained_at_end
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.explanation import Explanation
from axonad.report.drift_sentence import drift_sentence
from axonad.stream.alarm_collector import data_collector, timed
from axonad.stream.chunks import TimedEvent
from axonad.threshold import Event

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
    setup, events = detector.alarm_setup_, list[Event]()
    drift: list[str] | None = None
    if setup is not None:
        found = explained_at_end(detector, series, found)
        alarms = found.alarm_events(setup.policy)
        if setup.drift is not None:
            shifts, watch = find_drift(detector, raw, found)
            alarms = [mark_event(event, watch) for event in alarms]
            has_times = series.times is not None
            drift = [drift_sentence(timed(event, has_times)) for event in shifts]
        events += alarms
    else:  # a score that dips below the threshold for a quarter of a window is the same event
        events += found.events(gap=detector.history // 4)
    problems: list[TimedEvent] = []
    if (collector := data_collector(detector, hold=hold)) is not None:
        collector.add(raw)
        problems = collector.finish()
    start = None if setup is None else setup.policy.start
    events, notes = _explain_strongest(found, events, most=explained, threshold=start)
    listed = [TimedEvent.of(event, series) for event in events]
    return Scored(series, raw, found, listed, problems, drift=drift, notes=notes)


def _explain_strongest(
    found: Explanation, events: list[Event], *, most: int, threshold: float | None
) -> tuple[list[Event], list[str]]:
    """Return the events, the strongest with their explanation, and why there is none."""
    ranked = sorted(range(len(events)), key=lambda i: (-events[i].score, i))[:most]
    try:
        explained = found.explained([events[i] for i in ranked], threshold=threshold)
    except ConfigError as error:  # such as a model that was saved by an earlier version
        return events, [f"its events are not explained: {error}"]
    told = dict(zip(ranked, explained, strict=True))
    return [told.get(i, event) for i, event in enumerate(events)], []
