"""Range-F1: precision and recall between ranges (Tatbul et al., 2018), flat bias.

Recall of an event = 0.2 if any step is found + 0.8 x share of steps found / number of alarm ranges
that overlap it. Precision of an alarm range = share of its steps that are anomalous / number of
events it overlaps. Both are averaged over ranges.
"""

from __future__ import annotations

import numpy as np

from axonad.metrics.case import Case
from axonad.metrics.ranges import FloatArray, iter_level_runs, steps_of, sum_above

EXISTENCE_WEIGHT = 0.2
_BLOCK = 2048  # events per batch, to limit memory


def range_f1(case: Case) -> float:
    """Range-based F1 at the best threshold.

    As in TSB-AD, alarms at every step do not count as a range, so F1 is 0 there.
    """
    recall, precision = _recall(case), _precision(case)
    total = recall + precision
    return float(np.max(2 * recall * precision / np.where(total > 0, total, 1)))


def _recall(case: Case) -> FloatArray:
    """Return range recall at each threshold."""
    count = case.level_count
    overlap = np.zeros(count)
    for block in range(0, case.starts.size, _BLOCK):
        overlap += _overlap(case, slice(block, block + _BLOCK))
    found = sum_above(np.bincount(case.event_level, minlength=count + 1))
    return (EXISTENCE_WEIGHT * found + (1 - EXISTENCE_WEIGHT) * overlap) / case.starts.size


def _overlap(case: Case, block: slice) -> FloatArray:
    """Return the sum of the overlap rewards of a block of events, at each threshold."""
    starts, stops = case.starts[block], case.stops[block]
    bins = case.level_count + 1
    size = starts.size * bins
    steps, owner = steps_of(starts, stops)
    level = case.levels[steps].astype(np.int64)
    # An alarm range begins at a step for the thresholds between the previous level and its own.
    previous = np.concatenate([[0], level[:-1]])
    previous[np.cumsum(stops - starts)[:-1]] = 0
    rises = level > previous
    row = owner * bins
    opened = np.bincount(row[rises] + previous[rises], minlength=size)
    closed = np.bincount(row[rises] + level[rises], minlength=size)
    pieces = np.cumsum((opened - closed).reshape(-1, bins), axis=1)[:, :-1]
    covered = sum_above(np.bincount(row + level, minlength=size).reshape(-1, bins))
    share = covered / (stops - starts)[:, None]
    return np.asarray(np.sum(share / np.maximum(pieces, 1), axis=0), dtype=np.float64)


def _precision(case: Case) -> FloatArray:
    """Return range precision at each threshold."""
    count = case.level_count
    anomalous = np.concatenate([[0], np.cumsum(case.labels)])
    begun = np.zeros(case.size + 1, dtype=np.int64)
    begun[case.starts + 1] = 1
    begun = np.cumsum(begun)  # events that begin before each step
    precision = np.zeros(count)
    for q, (starts, stops) in enumerate(iter_level_runs(case.levels, count)):
        if not starts.size or stops[0] - starts[0] == case.size:
            continue
        hits = anomalous[stops] - anomalous[starts]
        touching = np.flatnonzero(hits)
        a, b = starts[touching], stops[touching]
        events = begun[b] - begun[a + 1] + case.labels[a]
        precision[q] = np.sum(hits[touching] / ((b - a) * events)) / starts.size
    return precision
