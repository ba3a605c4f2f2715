"""From a fitted detector, normal recordings and a budget to the detector's new alarms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from axonad.alarms.bad_data import DataRules
from axonad.alarms.budget import Budget
from axonad.alarms.calibration import HYSTERESIS, Calibration, calibrate
from axonad.alarms.held_out import FOLDS, score_left_out, score_new
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.setup import AlarmSetup
from axonad.data.frames import match_channels, to_matrix
from axonad.data.series import Series
from axonad.data.timing import sampling_interval, to_seconds

if TYPE_CHECKING:
    from axonad.detector import Detector


def default_shape(history: int) -> AlarmPolicy:
    """Return durations and gaps that suit a score of so many rows; the thresholds are to be set.

    A fault stays in the window, so alarms less than a window apart are one event, and within four
    windows if the same channel is blamed. An event is long from four windows on, and from 60 rows.
    """
    return AlarmPolicy(
        start=0.0, merge_gap=history, cause_gap=4 * history, long=max(60, 4 * history)
    )


def recalibrate(
    detector: Detector,
    recordings: Sequence[Any],
    *,
    budget: str | Budget,
    refit: bool = False,
    folds: int = FOLDS,
    seconds_per_step: float | None = None,
    shape: AlarmPolicy | None = None,
    hysteresis: float = HYSTERESIS,
    raw: Sequence[Any] | None = None,
) -> tuple[AlarmSetup, Calibration]:
    """Return the alarms for a fitted detector that stay within a budget; it is not changed.

    Parameters
    ----------
    detector
        A fitted detector; ``detector.set_alarms(setup)`` makes it use the result.
    recordings
        Normal data, one array, frame or Series for each recording. The detector must not have
        learned from it, unless ``refit`` is set.
    budget
        Accepted false events, such as ``"1 per hour"`` or ``"3 per 10000 steps"``.
    refit
        Leave each recording out in turn and score it with a detector fitted on the others. For
        recordings the detector has learned from; at most ``folds`` fits.
    seconds_per_step
        Time between two rows. Default: that of training, or by the times of the recordings.
    shape
        Policy whose durations, gaps and severities are kept. Default: that of the detector's
        present alarms, or :func:`default_shape`.
    hysteresis
        How far below the start threshold an event ends, as a share of the way to the median score.
    raw
        The recordings before missing values were filled, to learn the rules for bad data from.
    """
    detector.check_fitted()
    budget = Budget.parse(budget)
    seconds = seconds_per_step
    if seconds is None:
        seconds = detector.interval_ if detector.interval_ is not None else _interval(recordings)
    budget.steps(seconds)  # fails before any work
    earlier = detector.alarm_setup_
    if shape is None:
        shape = default_shape(detector.history) if earlier is None else earlier.policy
    if refit:
        scored = score_left_out(detector, recordings, folds=folds)
    else:
        scored = score_new(detector, recordings)
    found = calibrate(
        scored, budget=budget, shape=shape, seconds_per_step=seconds, hysteresis=hysteresis
    )
    rules = _learn_rules(detector, recordings if raw is None else raw)
    setup = AlarmSetup.following(earlier, found, rules=rules, threshold=detector.threshold_)
    return setup, found


def _learn_rules(detector: Detector, recordings: Sequence[Any]) -> DataRules:
    matrices = []
    for X in recordings:
        values, names = to_matrix(X)
        known, count = detector.channel_names, detector.n_features_in_
        matrices.append(match_channels(values, names, expected=known, count=count))
    return DataRules.learn(matrices, names=detector.channel_names)


def _interval(recordings: Sequence[Any]) -> float | None:
    """Return the usual time between rows, the median over the recordings that have times."""
    found = []
    for X in recordings:
        seconds = to_seconds(X.times) if isinstance(X, Series) and X.times is not None else None
        step = None if seconds is None else sampling_interval(seconds)
        found += [step] if step is not None else []
    return float(np.median(found)) if found else None
