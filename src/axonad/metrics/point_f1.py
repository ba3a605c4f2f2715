"""Standard-F1 and PA-F1: F1 over single steps, plain and point-adjusted."""

from __future__ import annotations

import numpy as np

from axonad.metrics.case import Case
from axonad.metrics.ranges import FloatArray, IntArray, sum_above

_SOFTENER = 1e-5  # TSB-AD adds this to the denominator, so a perfect score gives 0.999995
_ROUNDING = 1e-12


def best_point(case: Case) -> tuple[float, float]:
    """Return the best F1 over all score thresholds, and that threshold (alarm if score >= it)."""
    everything, inside = case.grid, case.grid.subset(case.labels)
    total = inside.values.size
    # Within a cell of the grid F1 lies between "all normal steps first" and "all normal steps
    # last"; only cells that can hold the best need a closer look. At a given recall the fewest
    # false alarms are best, so the best threshold is the score of an anomalous step.
    filled = np.flatnonzero(inside.counts)
    found = total - inside.before[filled]
    alarms = case.size - everything.before[filled]
    floor = _soft_f1(found, alarms, total)
    ceiling = _soft_f1(found, alarms - everything.counts[filled] + inside.counts[filled], total)
    hopeful = np.zeros(inside.counts.size, dtype=np.bool_)
    hopeful[filled[ceiling >= floor.max() * (1 - _ROUNDING)]] = True
    close = np.flatnonzero(hopeful[inside.cells])
    close = close[np.argsort(inside.values[close])]
    thresholds, cells = inside.values[close], inside.cells[close]
    hits = total - inside.count_below(thresholds, cells)
    f1 = _soft_f1(hits, case.size - everything.count_below(thresholds, cells), total)
    best = int(np.argmax(f1))
    return float(f1[best]), float(thresholds[best])


def _soft_f1(hits: IntArray, alarms: IntArray, total: int) -> FloatArray:
    """F1 over steps as TSB-AD softens it."""
    precision, recall = hits / alarms, hits / total
    return np.asarray(2 * precision * recall / (precision + recall + _SOFTENER), dtype=np.float64)


def standard_f1(case: Case) -> float:
    """F1 over single steps at the best of all thresholds."""
    return case.once(best_point)[0]


def alarm_standard_f1(case: Case) -> float:
    """F1 over single steps of the given alarms."""
    hits, false = case.level_counts
    return float(_f1(hits.astype(np.float64), false.astype(np.float64), case)[0])


def pa_f1(case: Case) -> float:
    """Point-adjusted F1 at the best of 100 thresholds. It misleads; do not compare models by it.

    One alarm anywhere inside an event counts every step of that event as found, while false
    alarms still count step by step. On long events a *random* score reaches values near 1 and
    beats real detectors, which is why this figure exists only under its own name, for comparison
    with older publications. See `chance_level` for the value luck gives on your labels.

    TSB-AD's quirk is kept: an event that begins at step 0 and is found later does not get step 0.
    """
    hits, false = _adjusted(case)
    return float(np.max(_f1(hits, false, case)))


def _adjusted(case: Case) -> tuple[FloatArray, FloatArray]:
    """Return adjusted hits and false alarms at each threshold."""
    count = case.level_count
    lengths = (case.stops - case.starts).astype(np.float64)
    per_level = np.asarray(
        np.bincount(case.event_level, weights=lengths, minlength=count + 1), dtype=np.float64
    )
    hits: FloatArray = sum_above(per_level)
    if case.labels[0]:
        hits[int(case.levels[0]) : int(case.event_level[0])] -= 1
    return hits, case.level_counts[1].astype(np.float64)


def _f1(hits: FloatArray, false: FloatArray, case: Case) -> FloatArray:
    return 2 * hits / (hits + false + np.count_nonzero(case.labels))
