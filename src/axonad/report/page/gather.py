"""From a detector's results to what the page tells about a recording.

Nothing of the recording is kept but what the page shows, so that many can be gathered one after
the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from axonad.alarmed import TimedEvent
from axonad.alarms.budget import Budget
from axonad.alarms.event import AlarmEvent
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.explanation import Explanation
from axonad.report.page.axis import Axis
from axonad.report.page.content import EventView, Overview, Problem, RecordingView, Source
from axonad.report.page.curves import explained_curves, plain_curves, scatters
from axonad.report.page.decimation import bucket_edges, thin, thin_positions, with_breaks
from axonad.report.page.scoring import Scored
from axonad.report.page.words import describe_counterfactual

MOST_POINTS = 1000  # of each curve of a whole recording
FEWEST_POINTS = 60
ALL_POINTS = 200_000  # of all channels of all recordings


def view_recording(
    detector: Detector,
    scored: Scored,
    *,
    source: Source,
    place: int,
    first_number: int,
    points: int,
) -> RecordingView:
    """Return what the page tells about the recording at a place in the list.

    ``first_number`` is the number of its first event on the page, ``points`` the length of the
    curves of the whole recording.
    """
    series, found = scored.series, scored.found
    axis = Axis.of(series.times, len(series), usual=_seconds_per_step(detector))
    known = int(np.isfinite(found.scores).sum())
    hours = None if axis.interval is None else known * axis.interval / 3600
    return RecordingView(
        key=f"r{place}",
        source=source,
        axis=axis.kind,
        first=float(axis.x[0]),
        last=float(axis.x[-1]) + axis.step,
        rows=len(series),
        scored=known,
        channels=len(series.channels),
        hours=hours,
        interval=axis.interval,
        breaks=len([cut for cut in found.cuts if 0 < cut < len(series)]),
        missing=int(np.isnan(scored.raw.values.astype(np.float64)).sum()),
        threshold=found.threshold,
        events=tuple(
            view_event(detector, scored, axis, number, timed)
            for number, timed in enumerate(scored.events, start=first_number)
        ),
        problems=tuple(_view_problem(timed, axis) for timed in scored.problems),
        overview=_overview(series, found, axis, points),
        drift=None if scored.drift is None else tuple(scored.drift),
        notes=tuple(scored.notes),
        expected_events=_expected_events(detector, known, axis.interval),
    )


def overview_points(*, recordings: int, channels: int) -> int:
    """Return how many points a curve of a whole recording may have on a page of so many."""
    share = ALL_POINTS // max(1, recordings * (channels + 1))
    return min(MOST_POINTS, max(FEWEST_POINTS, share))


def keep_strongest(
    recordings: Sequence[RecordingView], most: int
) -> tuple[tuple[RecordingView, ...], int]:
    """Return the recordings with plots for at most so many events, and the number of the others.

    The plots of the weakest events are left out; all events stay in the table.
    """
    ranked = sorted(
        (event for one in recordings for event in one.events), key=lambda e: (-e.score, e.number)
    )
    shown = {event.key for event in ranked[:most]}

    def kept(event: EventView) -> EventView:
        if event.key in shown:
            return event
        return replace(event, curves=(), relations=(), is_listed_only=True)

    views = tuple(
        replace(one, events=tuple(kept(event) for event in one.events)) for one in recordings
    )
    return views, max(0, len(ranked) - most)


def view_event(
    detector: Detector, scored: Scored, axis: Axis, number: int, timed: TimedEvent
) -> EventView:
    """Return one event of a scored recording as the page tells it."""
    event, found, why = timed.event, scored.found, timed.event.why
    parts = tuple(
        (name, float(values[event.peak]))
        for name, values in found.components.items()
        if name != "score"
    )
    told: dict[str, Any] = {}
    if why is None:
        told["curves"] = plain_curves(scored.series, event, axis, history=detector.history)
    else:
        told = {
            "kind": why.kind,
            "sentence": why.sentence,
            "counterfactual": describe_counterfactual(why.counterfactual),
            "curves": explained_curves(why, event, axis),
            "relations": scatters(why),
        }
    return EventView(
        key=f"e{number}",
        number=number,
        severity=event.severity if isinstance(event, AlarmEvent) else "",
        score=event.score,
        threshold=found.threshold,
        channels=event.channels if why is None else tuple(why.channels),
        parts=parts,
        **_when(timed, axis),
        **told,
    )


def _view_problem(timed: TimedEvent, axis: Axis) -> Problem:
    event = timed.event
    reason = event.reason if isinstance(event, AlarmEvent) else ""
    return Problem(reason=reason, channels=event.channels, **_when(timed, axis))


def _when(timed: TimedEvent, axis: Axis) -> dict[str, Any]:
    event = timed.event
    return {
        "begins": axis.time(timed.begins),
        "ends": axis.time(timed.ends),
        "first": float(axis.x[event.start]),
        "last": float(axis.x[event.end - 1]) + axis.step,
        "duration": axis.duration(event.start, event.end),
        "length": axis.length(event.start, event.end),
    }


def _overview(series: Series, found: Explanation, axis: Axis, points: int) -> Overview:
    """Return score and channels of the whole recording, interrupted where time or data breaks."""
    columns = [found.scores, *series.values.astype(np.float64).T]
    x, breaks = axis.x, list(found.cuts)
    if len(series) > points:
        edges = bucket_edges(len(series), points, found.cuts)
        x, columns = thin_positions(x, edges), [thin(column, edges) for column in columns]
        breaks = (2 * np.searchsorted(edges, breaks)).tolist()
    x, score, *values = with_breaks(x, columns, breaks)
    return Overview(x, score, tuple(zip(series.channels, values, strict=True)))


def _seconds_per_step(detector: Detector) -> float | None:
    """Return the time between two rows as the model knows it."""
    setup = detector.alarm_setup_
    calibrated = None if setup is None or setup.calibration is None else setup.calibration
    seconds = None if calibrated is None else calibrated.get("seconds_per_step")
    return detector.interval_ if detector.interval_ is not None else seconds


def _expected_events(detector: Detector, rows: int, interval: float | None) -> float | None:
    """Return how many false events the model's budget accepts in so many rows."""
    setup = detector.alarm_setup_
    if setup is None or setup.calibration is None:
        return None
    budget = Budget.parse(setup.calibration["budget"])
    if budget.unit != "step" and interval is None:
        return None
    return rows * budget.per_step(interval)
