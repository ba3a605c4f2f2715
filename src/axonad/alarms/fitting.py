"""The alarms that ``fit`` sets when a detector has an alarm budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from axonad.alarms.calibration import Calibration, Recording, calibrate
from axonad.alarms.held_out import name_of, score_left_out, unusable_rows
from axonad.alarms.recalibrate import default_shape, learn_rules, seconds_between
from axonad.alarms.scored import without_lead
from axonad.alarms.setup import AlarmSetup
from axonad.data.series import Series
from axonad.data.timing import TimeCheck, find_runs

if TYPE_CHECKING:
    from axonad.alarmed import Alarmed


def seconds_of(detector: Alarmed, X: Any, interval: float | None) -> float | None:
    """Return the time between two rows of training data: as given, or by its times."""
    if detector.seconds_per_step is not None:
        return detector.seconds_per_step
    found = seconds_between([X])
    return interval if found is None else found


def calibrate_fit(detector: Alarmed, X: Any, budget: str) -> tuple[AlarmSetup, Calibration]:
    """Return the alarms of a detector that was just fitted on ``X``, scores placed at the end.

    They rest on its training scores if these were held out, else on stretches of ``X`` that are
    scored by detectors fitted on the rest of it.
    """
    seconds = seconds_of(detector, X, detector.interval_)
    scored = [_held_out(detector, X)] if detector.holds_out else score_left_out(detector, [X])
    found = calibrate(
        scored, budget=budget, shape=default_shape(detector.history), seconds_per_step=seconds
    )
    rules = learn_rules(detector, [X])
    threshold = detector.threshold_
    return AlarmSetup.following(None, found, rules=rules, threshold=threshold), found


def _held_out(detector: Alarmed, X: Any) -> Recording:
    """Return the training scores that a stream would have had: none until windows are full."""
    scores, times, name = detector.decision_scores_, None, name_of(X, 0)
    cuts: set[int] = set()
    if isinstance(X, Series):
        unusable, times = unusable_rows(X, len(X)), X.times
        check = TimeCheck(detector.interval_)
        check.add(times, len(X))
        check.finish(name)
        cuts = {*check.breaks, *(end for _, end in find_runs(unusable) if end < len(X))}
        scores = np.full(len(X), np.nan)
        scores[~unusable] = detector.decision_scores_
    edges = tuple(sorted(cuts))
    return Recording(without_lead(scores, lead=detector.lead, cuts=edges), edges, name, times)
