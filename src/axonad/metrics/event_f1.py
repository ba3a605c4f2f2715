"""Event-F1: recall over events, precision over steps."""

from __future__ import annotations

import numpy as np

from axonad.metrics.case import Case
from axonad.metrics.ranges import sum_above

_EPSILON = 1e-15


def event_f1(case: Case) -> float:
    """F1 of event recall and step precision, at the best threshold.

    An event is found if any of its steps raises an alarm. As in TSB-AD, an event at the end of the
    series loses its last step, so a one-step event there is never found.
    """
    count = case.level_count
    peaks = case.event_level
    if case.labels[-1]:
        shortened = case.levels[case.starts[-1] : case.size - 1]
        peaks = np.append(peaks[:-1], shortened.max(initial=0))
    found = sum_above(np.bincount(peaks, minlength=count + 1))
    recall = found / case.starts.size
    hits, false = case.level_counts
    precision = hits / np.maximum(hits + false, 1)
    return float(np.max(2 * recall * precision / (recall + precision + _EPSILON)))
