"""Standard-F1 and PA-F1: F1 over single steps, plain and point-adjusted."""

from __future__ import annotations

import numpy as np

from axonad.metrics.case import Case
from axonad.metrics.ranges import FloatArray, IntArray, sum_above

_SOFTENER = 1e-5  # TSB-AD adds this to the denominator, so a perfect score gives 0.999995
_ROUNDING = 1e-12


def best_point(case: Case) -> tuple[float, float]:
    """Return the best F1 over all score thresholds, and that threshold (alarm if score >= it)."""
    everything, inside = case.buckets, case.buckets.subset(case.labels)
    total = inside.values.size
    # At a given recall the fewest false alarms are best, so the best threshold is the score of an
    # anomalous step. Within a bucket F1 is lowest if all its steps raise alarms and highest if
    # only its anomalous steps do; buckets whose highest F1 is below the best lowest are skipped.
    filled = np.flatnonzero(inside.counts)
    found = total - inside.before[filled]
    alarms = case.size - everything.before[filled]
    lowest = _soft_f1(found, alarms, total)
    highest = _soft_f1(found, alarms - everything.counts[filled] + inside.counts[filled], total)
    candidates = filled[highest >= lowest.max() * (1 - _ROUNDING)]
    close = np.flatnonzero(np.isin(inside.index, candidates))
    close = close[np.argsort(inside.values[close])]
    thresholds, index = inside.values[close], inside.index[close]
    hits = total - inside.count_below(thresholds, index)
    f1 = _soft_f1(hits, case.size - everything.count_below(thresholds, index), total)
    best = int(np.argmax(f1))
    return float(f1[best]), float(thresholds[best])


def standard_f1(case: Case) -> float:
    """F1 over single steps at the best of all thresholds."""
    return case.once(best_point)[0]


def alarm_standard_f1(case: Case) -> float:
    """F1 over single steps of the given alarms."""
    hits, false = case.level_counts
    return float(_f1(hits, false, case)[0])


def pa_f1(case: Case) -> float:
    """Point-adjusted F1 at the best of 100 thresholds. It misleads; do not compare models by it.

    One alarm anywhere inside an event counts every step of that event as found, while false
    alarms still count step by step. On long events a *random* score reaches values near 1 and
    beats real detectors. It is here for comparison with older publications only; `chance_level`
    gives the value of random scores on your labels.

    As in TSB-AD, an event that begins at step 0 and is found later does not get step 0.
    """
    lengths = (case.stops - case.starts).astype(np.float64)
    hits = sum_above(np.bincount(case.event_level, weights=lengths, minlength=case.level_count + 1))
    if case.labels[0]:
        hits[int(case.levels[0]) : int(case.event_level[0])] -= 1
    return float(np.max(_f1(hits, case.level_counts[1], case)))


def _soft_f1(hits: IntArray, alarms: IntArray, total: int) -> FloatArray:
    """F1 over steps with TSB-AD's softened denominator."""
    precision, recall = hits / alarms, hits / total
    return np.asarray(2 * precision * recall / (precision + recall + _SOFTENER), dtype=np.float64)


def _f1(hits: FloatArray | IntArray, false: IntArray, case: Case) -> FloatArray:
    return 2 * hits / (hits + false + np.count_nonzero(case.labels))
