"""From a fitted detector, normal recordings and a budget to the detector's new alarms."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from axonad.alarms.bad_data import DataRules
from axonad.alarms.budget import Budget
from axonad.alarms.calibration import HYSTERESIS, Calibration, Recording, calibrate
from axonad.alarms.drift_reference import DriftReference
from axonad.alarms.held_out import FOLDS, score_left_out, score_new
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.scored import placed_at_end
from axonad.alarms.setup import AlarmSetup
from axonad.data.frames import Matrix, match_channels
from axonad.data.holding import recorded_values
from axonad.data.series import Series
from axonad.data.timing import find_stretches, judge_steps, sampling_interval, to_seconds
from axonad.errors import DataWarning, InputError

if TYPE_CHECKING:
    from axonad.alarmed import Alarmed

LOWER = 0.5  # mean score of known data, as a share of the mean held-out training score
FEWEST = 20  # rows; shorter windows say nothing about how long an event lasts
RISE, SETTLE, RECOVER, ALLOWANCE = 0.3, 0.002, 0.01, 0.01
"""How thresholds follow scores that stay high, chosen on the tuning series."""


def default_shape(history: int) -> AlarmPolicy:
    """Return durations and gaps that suit a score of so many rows; the thresholds are to be set.

    A fault stays in the window, so alarms up to a window apart are one event, and up to four
    windows apart if the same channel is blamed most. An event is long from four windows on. Here a
    window has at least ``FEWEST`` rows. The thresholds follow scores that stay high.
    """
    rows = max(history, FEWEST)
    return AlarmPolicy(
        start=0.0, merge_gap=rows, cause_gap=4 * rows, long=4 * rows,
        rise=RISE, settle=SETTLE, recover=RECOVER, allowance=ALLOWANCE,
    )  # fmt: skip


def recalibrate(
    detector: Alarmed,
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

    Scores are placed at the end of windows, as a stream has them.

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
        Time between two rows. Default: by the times of the recordings, or that of training.
    shape
        Policy whose durations, gaps and severities are kept. Default: that of the detector's
        present alarms, or :func:`default_shape`.
    hysteresis
        How far below the start threshold an event ends, as a share of the way to the median score.
    raw
        The recordings before missing values were filled, to learn the rules for bad data from.
    """
    detector.check_fitted()
    recordings = [detector.timed(X) for X in recordings]
    raw = None if raw is None else [detector.timed(X) for X in raw]
    detector = placed_at_end(detector)
    budget = Budget.parse(budget)
    seconds = seconds_per_step
    if seconds is None:
        seconds = seconds_between(recordings)
        seconds = detector.interval_ if seconds is None else seconds
    budget.steps(seconds)  # fails before any work
    earlier = detector.alarm_setup_
    if shape is None:
        shape = default_shape(detector.history) if earlier is None else earlier.policy
    if refit:
        scored = score_left_out(detector, recordings, folds=folds)
    else:
        scored = score_new(detector, recordings)
        _warn_of_training_data(detector, scored)
    found = calibrate(
        scored, budget=budget, shape=shape, seconds_per_step=seconds, hysteresis=hysteresis
    )
    matrices = matching_values(detector, recordings if raw is None else raw)
    rules = learn_rules(detector, matrices)
    drift = learn_drift(detector, matrices, scored)
    setup = AlarmSetup.following(
        earlier, found, rules=rules, threshold=detector.threshold_, drift=drift
    )
    return setup, found


def _warn_of_training_data(detector: Alarmed, scored: Sequence[Recording]) -> None:
    """Warn of recordings that seem to be the training data; refuse scores that tell nothing.

    Detectors whose training scores are held out score their training data far lower than that.
    """
    training = detector.decision_scores_
    for recording in scored:
        known = np.isfinite(recording.scores)
        scores = recording.scores[known]
        if len(scores) and np.ptp(scores) == 0:
            raise InputError(
                f"all scores of {recording.name} are {scores[0]:g}, so that no threshold can be "
                "chosen; if the detector has learned from it, set refit (--refit) or give others"
            )
        if len(known) != len(training):
            continue
        own = training[known]
        if np.allclose(scores, own) or np.nanmean(scores) < LOWER * np.nanmean(own):
            warnings.warn(
                f"{recording.name} seems to be the training data, whose scores say little about "
                "new data; give other recordings, or set refit (--refit)",
                DataWarning,
                stacklevel=3,
            )


def matching_values(detector: Alarmed, recordings: Sequence[Any]) -> list[Matrix]:
    """Return the values of recordings with the channels of training, NaN where one is missing."""
    matrices = []
    for X in recordings:
        values, names = recorded_values(X)
        known, count = detector.channel_names, detector.n_features_in_
        matrices.append(match_channels(values, names, expected=known, count=count))
    return matrices


def learn_rules(detector: Alarmed, matrices: Sequence[Matrix]) -> DataRules:
    """Return the rules for bad data that normal recordings give."""
    names, context = detector.channel_names, detector.context_columns
    return DataRules.learn(matrices, names=names, context=context)


def learn_drift(
    detector: Alarmed, matrices: Sequence[Matrix], scored: Sequence[Recording]
) -> DriftReference:
    """Return what drift is judged against: the recordings and their scores.

    Scores of stretches of one recording are joined.
    """
    scores = [recording.scores for recording in scored]
    cuts = [recording.cuts for recording in scored]
    if len(matrices) == 1:
        edges = np.cumsum([0, *map(len, scores)]).tolist()
        inner = [cut + edge for part, edge in zip(cuts, edges, strict=False) for cut in part]
        scores, cuts = [np.concatenate(scores)], [tuple(sorted({*edges[1:-1], *inner}))]
    stretches = [
        (values[part], found[part])
        for values, found, walls in zip(matrices, scores, cuts, strict=True)
        for part in find_stretches(len(values), list(walls))
    ]
    context = detector.context_columns
    return DriftReference.learn(stretches, history=detector.history, context=context)


def seconds_between(recordings: Sequence[Any]) -> float | None:
    """Return the mean time between rows of the recordings that have times; None if none has.

    Gaps and steps backwards do not count.
    """
    total, count = 0.0, 0
    for X in recordings:
        seconds = to_seconds(X.times) if isinstance(X, Series) and X.times is not None else None
        usual = None if seconds is None else sampling_interval(seconds)
        if seconds is None or usual is None:
            continue
        steps = np.diff(seconds[np.isfinite(seconds)])
        _, backward, late = judge_steps(steps, usual)
        steps = steps[~(backward | late)]
        total, count = total + float(steps.sum()), count + len(steps)
    return total / count if count else None
