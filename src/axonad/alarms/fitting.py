"""The alarms that ``fit`` sets when a detector has an alarm budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from axonad.alarms.calibration import Calibration, Recording, calibrate
from axonad.alarms.held_out import name_of, score_left_out
from axonad.alarms.recalibrate import (
    default_shape,
    learn_drift,
    learn_rules,
    matching_values,
    seconds_between,
)
from axonad.alarms.scored import without_lead
from axonad.alarms.setup import AlarmSetup
from axonad.data.frames import Matrix
from axonad.data.series import Series

if TYPE_CHECKING:
    from axonad.alarmed import Alarmed


def seconds_of(
    detector: Alarmed, recordings: Sequence[Any], interval: float | None
) -> float | None:
    """Return the time between two rows of training data: as given, or by its times."""
    if detector.seconds_per_step is not None:
        return detector.seconds_per_step
    found = seconds_between(recordings)
    return interval if found is None else found


def calibrate_fit(
    detector: Alarmed, recordings: Sequence[Any], X: Matrix, budget: str
) -> tuple[AlarmSetup, Calibration]:
    """Return the alarms of a detector that was just fitted, scores placed at the end of windows.

    ``X`` are the rows of ``recordings`` that it has learned from. The alarms rest on its training
    scores if these were held out, else on recordings, or stretches of a single one, that are scored
    by detectors fitted on the rest.
    """
    seconds = seconds_of(detector, recordings, detector.interval_)
    matrices = matching_values(detector, recordings)
    if detector.holds_out:
        scored = list(_held_out(detector, recordings))
        drift = learn_drift(detector, detector.recordings_.matrices(X), scored)
    else:
        scored = score_left_out(detector, recordings)
        drift = learn_drift(detector, matrices, scored)
    found = calibrate(
        scored, budget=budget, shape=default_shape(detector.history), seconds_per_step=seconds
    )
    rules = learn_rules(detector, matrices)
    before = detector.threshold_
    return AlarmSetup.following(None, found, rules=rules, threshold=before, drift=drift), found


def _held_out(detector: Alarmed, recordings: Sequence[Any]) -> Iterator[Recording]:
    """Yield the training scores that a stream would have had: none until windows are full.

    Rows that were not learned from have no score and are left out. A recording that lost some has
    no times here.
    """
    learned = detector.recordings_
    edges = list(accumulate(learned.lengths, initial=0))
    all_kept = len(learned.whole) == len(recordings)
    start = 0
    for number, rows in enumerate(learned.whole):
        stop = start + rows
        cuts = tuple(edge - start for edge in edges if start < edge < stop)
        scores = without_lead(detector.decision_scores_[start:stop], lead=detector.lead, cuts=cuts)
        given = recordings[number] if all_kept else None
        is_whole = isinstance(given, Series) and len(given) == rows
        times = given.times if isinstance(given, Series) and is_whole else None
        name = name_of(given, number)
        yield Recording(np.asarray(scores), cuts, name, times)
        start = stop
