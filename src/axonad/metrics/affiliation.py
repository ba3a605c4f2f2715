"""Affiliation-F1: how near alarms and events are in time (Huet et al., 2022).

Time is continuous: step t is the interval [t, t + 1). Each event J has a zone E that reaches half
way to the neighbouring events. Inside a zone

- precision of an alarm at distance d > 0 from J is 1 - (min(d, m) + d + |J|) / |E|, where m is the
  smaller distance from J to the border of E, and 1 inside J;
- recall of a time t in J whose nearest alarm in E is at distance d is 1 - (min(d, m) + d) / |E|,
  where m is the distance from t to the border of E.

Precision is averaged over alarm time, recall over event time, then both over zones (a zone without
alarms has recall 0 and no precision). Zone borders are multiples of 1/2 and every integrand is
piecewise linear, so all integrals are computed in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from axonad.metrics.case import Case
from axonad.metrics.ranges import BoolArray, FloatArray, IntArray, steps_of, sum_above

_EPSILON = 1e-15
_FAR = 1e15  # "no alarm on this side"
_BLOCK = 2048  # events per batch, to limit memory


@dataclass(frozen=True)
class _Zones:
    """Start and end times of events and of their zones."""

    starts: IntArray
    stops: IntArray
    left: FloatArray
    right: FloatArray

    @property
    def lengths(self) -> FloatArray:
        return self.right - self.left

    def block(self, part: slice) -> _Zones:
        return _Zones(self.starts[part], self.stops[part], self.left[part], self.right[part])


def affiliation_f1(case: Case) -> float:
    """Affiliation-based F1 at the best threshold.

    NaN if no threshold raises an alarm (constant scores): precision is then undefined.
    """
    count = case.level_count
    borders = (case.stops[:-1] + case.starts[1:]) / 2
    left, right = np.append(0.0, borders), np.append(borders, float(case.size))
    zones = _Zones(case.starts, case.stops, left, right)
    precision, with_alarms, recall = np.zeros(count), np.zeros(count), np.zeros(count)
    for block in range(0, case.starts.size, _BLOCK):
        part = zones.block(slice(block, block + _BLOCK))
        proximity, length = _precision(case, part)
        precision += np.sum(proximity / np.where(length > 0, length, 1), axis=0)
        with_alarms += np.count_nonzero(length, axis=0)
        recall += _recall(case, part, length > 0)
    some = with_alarms > 0
    if not some.any():
        return float("nan")
    p = precision[some] / with_alarms[some]
    r = recall[some] / case.starts.size
    return float(np.max(2 * p * r / (p + r + _EPSILON)))


def _precision(case: Case, zones: _Zones) -> tuple[FloatArray, FloatArray]:
    """Return, per zone and threshold, the integral of alarm precision and the alarm time."""
    bins = case.level_count + 1
    # A step cut by a zone border belongs to both zones, with the part that lies inside.
    steps, owner = steps_of(
        np.floor(zones.left).astype(np.int64), np.ceil(zones.right).astype(np.int64)
    )
    begin = np.maximum(steps, zones.left[owner])
    end = np.minimum(steps + 1, zones.right[owner])
    start, stop = zones.starts[owner], zones.stops[owner]
    near = np.maximum(np.maximum(start - end, begin - stop), 0)
    far = np.maximum(np.maximum(start - begin, end - stop), 0)
    m = np.minimum(zones.starts - zones.left, zones.right - zones.stops)[owner]
    time = end - begin
    loss = _double_distance(far, m) - _double_distance(near, m)
    loss += np.where(far == 0, 0, (stop - start) * time)
    cell = owner * bins + case.levels[steps]
    size = zones.starts.size * bins
    gain, length = (
        np.asarray(np.bincount(cell, weights=part, minlength=size), dtype=np.float64)
        for part in (time - loss / zones.lengths[owner], time)
    )
    return sum_above(gain.reshape(-1, bins)), sum_above(length.reshape(-1, bins))


def _double_distance(d: FloatArray, m: FloatArray) -> FloatArray:
    """Integral of min(x, m) + x for x from 0 to d."""
    low = np.minimum(d, m)
    return np.asarray((d * d + low * low) / 2 + m * (d - low), dtype=np.float64)


def _recall(case: Case, zones: _Zones, has_alarm: BoolArray) -> FloatArray:
    """Return, per threshold, the sum of the recall of the events."""
    count = case.level_count
    before, after = _nearest_outside(case, zones)
    steps, owner = steps_of(zones.starts, zones.stops)
    level, times = case.levels[steps], steps.astype(np.float64)
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    opens, closes = np.zeros(steps.size, dtype=bool), np.zeros(steps.size, dtype=bool)
    opens[first] = True
    closes[np.append(first[1:], steps.size) - 1] = True
    weight = 1 / (zones.lengths * (zones.stops - zones.starts))
    recall = np.zeros(count)
    for q in range(count):
        quiet, alarm = level <= q, level > q
        heads = np.flatnonzero(quiet & (opens | np.append(True, alarm[:-1])))
        tails = np.flatnonzero(quiet & (closes | np.append(alarm[1:], True)))
        event, u, v = owner[heads], times[heads], times[tails] + 1
        a = np.where(opens[heads], before[event, q], u)
        b = np.where(closes[tails], after[event, q], v)
        middle = np.clip((a + b) / 2, u, v)  # alarm a is nearer before it, b after it
        loss = _loss_after(u, middle, a, zones.right[event])
        loss += _loss_after(-v, -middle, -b, -zones.left[event])
        lost = np.bincount(event, weights=loss, minlength=weight.size) * weight
        recall[q] = np.sum((1 - lost)[has_alarm[:, q]])
    return recall


def _nearest_outside(case: Case, zones: _Zones) -> tuple[FloatArray, FloatArray]:
    """Return, per zone and threshold, the times of the last alarm before and the first after J."""
    bins = case.level_count + 1
    before = np.full((zones.starts.size, bins), -_FAR)
    steps, owner = steps_of(np.floor(zones.left).astype(np.int64), zones.starts)
    np.maximum.at(before, (owner, case.levels[steps]), steps + 1.0)
    after = np.full((zones.starts.size, bins), _FAR)
    steps, owner = steps_of(zones.stops, np.ceil(zones.right).astype(np.int64))
    np.minimum.at(after, (owner, case.levels[steps]), steps.astype(np.float64))
    before = np.maximum.accumulate(before[:, ::-1], axis=1)[:, ::-1][:, 1:]
    after = np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return before, after


def _loss_after(x: FloatArray, y: FloatArray, alarm: FloatArray, border: FloatArray) -> FloatArray:
    """Integral of min(d, m) + d over [x, y], where the nearest alarm ends at or before x."""
    turn = (alarm + border) / 2
    rising = (np.minimum(y, turn) - alarm) ** 2 - (np.minimum(x, turn) - alarm) ** 2
    flat = (border - alarm) * (np.maximum(y, turn) - np.maximum(x, turn))
    return np.asarray(rising + flat, dtype=np.float64)
