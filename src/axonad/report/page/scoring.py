"""Score a recording for the page: scores, events, explanations and bad data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.explanation import Explanation
from axonad.stream.alarm_collector import data_collector
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
) -> Scored:
    """Return everything the page needs about a recording.

    The ``explained`` strongest events are explained. ``raw`` is the series before missing values
    were filled; default: none were. ``found`` are its scores, if they are known already.
    """
    found = detector.explain(series) if found is None else found
    setup, events = detector.alarm_setup_, list[Event]()
    if setup is not None:
        events += found.alarm_events(setup.policy)
    else:  # a score that dips below the threshold for a quarter of a window is the same event
        events += found.events(gap=detector.history // 4)
    raw = series if raw is None else raw
    problems: list[TimedEvent] = []
    if (watch := data_collector(detector)) is not None:
        watch.add(raw)
        problems = watch.finish()
    events, notes = _explain_strongest(found, events, most=explained)
    timed = [TimedEvent.of(event, series) for event in events]
    return Scored(series, raw, found, timed, problems, notes=notes)


def _explain_strongest(
    found: Explanation, events: list[Event], *, most: int
) -> tuple[list[Event], list[str]]:
    """Return the events, the strongest with their explanation, and why there is none."""
    ranked = sorted(range(len(events)), key=lambda i: (-events[i].score, i))[:most]
    try:
        explained = found.explained([events[i] for i in ranked])
    except ConfigError as error:  # such as a model that was saved by an earlier version
        return events, [f"its events are not explained: {error}"]
    told = dict(zip(ranked, explained, strict=True))
    return [told.get(i, event) for i, event in enumerate(events)], []
