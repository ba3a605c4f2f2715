"""Drift in a whole series, as a stream of it would have been told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from axonad.alarms.drift import DriftWatch
from axonad.alarms.drift_marks import mark_event, watch_drift
from axonad.alarms.event import AlarmEvent
from axonad.alarms.scored import placed_at_end, without_lead
from axonad.data.clock import Clock
from axonad.data.frames import match_channels
from axonad.data.holding import recorded_values
from axonad.data.series import Series
from axonad.data.timing import to_seconds

if TYPE_CHECKING:
    from axonad.alarmed import Alarmed
    from axonad.explanation import Explanation


def find_drift(
    detector: Alarmed, X: Any, found: Explanation | None = None
) -> tuple[list[AlarmEvent], DriftWatch | None]:
    """Return the drifts in ``X`` by the detector's reference, and the watch that found them.

    ``X`` may have missing values if ``found``, the result of ``detector.explain`` for the series
    with these filled, is given. Without a reference there are no drifts and no watch.
    """
    watch = watch_drift(detector.alarm_setup_, names=detector.channel_names)
    if watch is None:
        return [], None
    X = detector.timed(X)
    if found is None:
        found = placed_at_end(detector).explain(X, blame=False)
    values, names = recorded_values(X)
    known, count = detector.channel_names, detector.n_features_in_
    values = match_channels(values, names, expected=known, count=count)
    times = X.times if isinstance(X, Series) else None
    seconds = None if times is None else to_seconds(times)
    cuts = [] if seconds is None else Clock().find_breaks(seconds, detector.interval_)
    scores = without_lead(found.scores, lead=found.lead, cuts=found.cuts)
    changes = watch.push_many(values, scores, times=times, cuts=cuts) + watch.finish()
    return [change.event for change in changes if change.what == "final"], watch


def marked_events(
    detector: Alarmed, X: Any, found: Explanation, events: Sequence[AlarmEvent]
) -> list[AlarmEvent]:
    """Return events of the score in ``X``, marked where drift holds."""
    watch = find_drift(detector, X, found)[1]
    return [mark_event(event, watch) for event in events]
