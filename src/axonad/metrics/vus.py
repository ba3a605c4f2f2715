"""VUS-PR and VUS-ROC: areas under range-aware curves, averaged over tolerance windows 0 ... L.

For a window w every event gets a margin ("skirt") of w // 2 steps on both sides. A skirt step at
distance d from its event is labelled sqrt(1 - d / w); a step in two skirts is labelled 1, because
two such values always add up to more than 1. At each of 250 thresholds, quantiles of the scores,
with P anomalous steps, n steps and S the sum of the skirt labels of steps with an alarm:

    found = anomalous steps with an alarm + S
    recall = min(1, found / (P + S / 2)) x share of events with an alarm, skirts included
    false alarm rate = (alarms - found) / (n - P - S / 2)
    precision = found / alarms

For each step near an event we need the first threshold that raises an alarm, the distance d1 to
the nearest event and d2 to the second nearest. A histogram over (d1, threshold) then gives S for
a window as one small matrix product; a window larger by 2 only changes the label of the steps with
d2 = w // 2 to 1. Bucketed ranks replace sorting the scores. Memory O(n + 250 L).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from axonad.metrics.case import Case, check_binary
from axonad.metrics.ranges import FloatArray, IntArray, find_ranges, steps_of
from axonad.metrics.vus_window import check_window

THRESHOLDS = 250
RankArray = NDArray[np.int16]
_ROWS = 32  # windows per batch; small tables stay in the CPU cache
_CELLS = 1 << 16  # (reach, event) pairs per batch
_FAR = np.int64(1) << 40  # "no such event"


@dataclass(frozen=True)
class _Skirt:
    """Normal steps near an event, with the distances to the nearest two events."""

    steps: IntArray
    nearest: IntArray
    second: IntArray


def vus_pr(case: Case) -> float:
    """Volume under the range-aware precision-recall surface over the windows 0 ... L."""
    return case.once(_volumes)[0]


def vus_roc(case: Case) -> float:
    """Volume under the range-aware ROC surface over the windows 0 ... L."""
    return case.once(_volumes)[1]


def extend_labels(labels: ArrayLike, window: int) -> FloatArray:
    """Return labels with skirts: 1 in events, falling over ``window // 2`` steps on both sides.

    >>> extend_labels([0, 0, 0, 1, 0, 0, 0], 4).round(2).tolist()
    [0.0, 0.71, 0.87, 1.0, 0.87, 0.71, 0.0]
    """
    window = check_window(window)
    mask = check_binary(labels, name="labels")
    extended = mask.astype(np.float64)
    starts, stops = find_ranges(mask)
    reach = window // 2
    if starts.size and reach:
        skirt = _find_skirt(starts, stops, mask.size, reach)
        single = np.sqrt(1 - skirt.nearest / window)
        extended[skirt.steps] = np.where(skirt.second <= reach, 1.0, single)
    return extended


def _find_skirt(starts: IntArray, stops: IntArray, size: int, reach: int) -> _Skirt:
    """Return the normal steps at most ``reach`` away from an event."""
    ends = stops - 1
    # Gap g is between event g - 1 and event g; keep only its steps near an event.
    opened, closed = np.append(0, stops), np.append(starts, size)
    left_stop = np.minimum(opened + reach, closed)
    left_stop[0] = 0
    right_start = np.maximum(closed - reach, left_stop)
    right_start[-1] = size
    gap = np.arange(opened.size)
    steps, part = steps_of(
        np.concatenate([opened, right_start]), np.concatenate([left_stop, closed])
    )
    gap = np.tile(gap, 2)[part]
    past = np.concatenate([[-_FAR, -_FAR], ends])
    coming = np.concatenate([starts, [_FAR, _FAR]])
    before, before2 = steps - past[gap + 1], steps - past[gap]
    after, after2 = coming[gap] - steps, coming[gap + 1] - steps
    second = np.minimum(np.maximum(before, after), np.minimum(before2, after2))
    return _Skirt(steps, np.minimum(before, after), second)


def _volumes(case: Case) -> tuple[float, float]:
    """Return VUS-PR and VUS-ROC."""
    n, anomalous = case.size, np.count_nonzero(case.labels)
    places = np.linspace(0, n - 1, THRESHOLDS).astype(np.int64)
    thresholds, below = case.buckets.select(n - 1 - places)
    alarms = n - below
    reach = case.window // 2
    skirt = _find_skirt(case.starts, case.stops, n, reach)
    inside, _ = steps_of(case.starts, case.stops)
    ranks = np.full(n, THRESHOLDS, dtype=np.int16)
    near = np.concatenate([inside, skirt.steps])
    ranks[near] = np.searchsorted(-thresholds, -case.values[near], side="left")
    hits = np.cumsum(np.bincount(ranks[inside], minlength=THRESHOLDS))
    soft = _soft_found(skirt, ranks, case.window)
    exist = np.repeat(_existence(case, ranks, reach), 2, axis=0)
    pr, roc = 0.0, 0.0
    for row in range(0, case.window + 1, _ROWS):
        part = soft[row : row + _ROWS]
        found, wanted = hits + part, anomalous + part / 2
        recall = np.minimum(found / wanted, 1) * exist[row : row + part.shape[0]]
        pr += np.sum(np.diff(recall, axis=1, prepend=0) * (found / alarms))
        roc += _area_roc(recall, (alarms - found) / (n - wanted))
    return float(pr / (case.window + 1)), float(roc / (case.window + 1))


def _soft_found(skirt: _Skirt, ranks: RankArray, window: int) -> FloatArray:
    """Return S, the sum of skirt labels with an alarm, for each window and threshold."""
    reach = window // 2
    rank = ranks[skirt.steps].astype(np.int64)
    cell = (skirt.nearest - 1) * THRESHOLDS + rank
    near = np.bincount(cell, minlength=reach * THRESHOLDS).astype(np.float64)
    soft = np.zeros((window + 1, THRESHOLDS))
    for row in range(2, window + 1, _ROWS):
        w = np.arange(row, min(row + _ROWS, window + 1))
        soft[w] = _falloff(w, reach) @ near.reshape(-1, THRESHOLDS)
    twice = np.flatnonzero(skirt.second <= reach)
    if twice.size:
        _lift_doubles(soft, skirt.second[twice], rank[twice], cell[twice])
    return np.cumsum(soft, axis=1)


def _falloff(windows: IntArray, reach: int) -> FloatArray:
    """Return sqrt(1 - d / w) for windows w and distances d = 1 ... reach, 0 beyond w // 2."""
    d, w = np.arange(1, reach + 1), windows[:, None]
    return np.where(d <= w // 2, np.sqrt(np.maximum(1 - d / w, 0)), 0.0)


def _lift_doubles(soft: FloatArray, second: IntArray, rank: IntArray, cell: IntArray) -> None:
    """Raise the labels of steps in two skirts from sqrt(1 - d / w) to 1, in place."""
    window = soft.shape[0] - 1
    reach = window // 2
    order = np.argsort(second, kind="stable")
    until = np.searchsorted(second[order], np.arange(reach + 2))
    lifted = np.zeros(reach * THRESHOLDS)
    full = np.zeros(THRESHOLDS)
    for h in range(1, reach + 1):
        joined = order[until[h] : until[h + 1]]  # in a second skirt from this reach on
        np.add.at(lifted, cell[joined], 1.0)
        full += np.bincount(rank[joined], minlength=THRESHOLDS)
        w = np.arange(2 * h, min(2 * h + 2, window + 1))
        soft[w] += full - _falloff(w, h) @ lifted[: h * THRESHOLDS].reshape(h, THRESHOLDS)


def _existence(case: Case, ranks: RankArray, reach: int) -> FloatArray:
    """Return the share of events with an alarm for each reach; events with joint skirts merge."""
    starts, ends = case.starts, case.stops - 1
    count = starts.size
    apart = np.append(case.size * 2, starts[1:] - ends[:-1])  # distance to the previous event
    bounds = np.stack([starts, case.stops], axis=1).ravel()
    best = np.minimum.reduceat(np.append(ranks, np.int16(THRESHOLDS)), bounds)[::2]
    found = np.empty((reach + 1, THRESHOLDS))
    rows = max(1, _CELLS // count)
    for row in range(0, reach + 1, rows):
        h = np.arange(row, min(row + rows, reach + 1))[:, None]
        best = np.minimum(best, ranks[np.maximum(starts - h, 0)])
        best = np.minimum(best, ranks[np.minimum(ends + h, case.size - 1)])
        best = np.minimum.accumulate(best, axis=0)
        heads = np.flatnonzero((apart > 2 * h) | (np.arange(count) == 0))
        merged = heads // count * THRESHOLDS + np.minimum.reduceat(best.ravel(), heads)
        table = np.bincount(merged, minlength=h.size * THRESHOLDS)
        found[h[:, 0]] = table.reshape(h.size, THRESHOLDS)
        best = best[-1]
    return np.asarray(np.cumsum(found, axis=1) / found.sum(axis=1, keepdims=True))


def _area_roc(recall: FloatArray, false_rate: FloatArray) -> float:
    """Return the sum of the areas under ROC curves from (0, 0) to (1, 1), one per row."""
    between = np.sum(np.diff(false_rate, axis=1) * (recall[:, 1:] + recall[:, :-1]))
    first = np.sum(false_rate[:, 0] * recall[:, 0])
    last = np.sum((1 - false_rate[:, -1]) * (1 + recall[:, -1]))
    return float(between + first + last) / 2


def _alarm_volumes(case: Case) -> tuple[float, float, float]:
    """Return VUS-Precision, VUS-Recall and VUS-F of given alarms.

    TSB-AD reuses the labels of one window for the next, so a skirt step with an alarm counts
    sqrt(1/2) in the first window that contains it and 1 in all larger ones.
    """
    reach = case.window // 2
    alarms = case.values > 0
    skirt = _find_skirt(case.starts, case.stops, case.size, reach)
    on = alarms[skirt.steps]
    nearest, second = skirt.nearest[on], skirt.second[on]
    arriving = np.bincount(nearest, minlength=reach + 1)[: reach + 1]
    twice = np.bincount(nearest[second == nearest], minlength=reach + 1)[: reach + 1]
    odd = np.cumsum(arriving).astype(np.float64)
    even = odd - (arriving - twice) * (1 - np.sqrt(0.5))
    soft = np.stack([even, odd], axis=1).ravel()[: case.window + 1]
    found = np.count_nonzero(alarms & case.labels) + soft
    recall = np.minimum(found / (np.count_nonzero(case.labels) + soft / 2), 1)
    count = np.count_nonzero(alarms)
    if not count:
        return float("nan"), 0.0, 0.0
    precision = found / count
    total = precision + recall
    f = 2 * precision * recall / np.where(total > 0, total, 1)
    return float(np.mean(precision)), float(np.mean(recall)), float(np.mean(f))


def vus_precision(case: Case) -> float:
    """Range-aware precision of given alarms, averaged over windows; NaN without alarms."""
    return case.once(_alarm_volumes)[0]


def vus_recall(case: Case) -> float:
    """Range-aware recall of given alarms, averaged over windows."""
    return case.once(_alarm_volumes)[1]


def vus_f(case: Case) -> float:
    """Range-aware F1 of given alarms, averaged over windows."""
    return case.once(_alarm_volumes)[2]
