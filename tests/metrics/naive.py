"""Small drawn cases, and slow, obvious twins of every metric: loops from the definitions."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st


def ranges(mask):
    """Runs of truth as (start, stop), stop excluded."""
    found, start = [], None
    for step, on in enumerate([*mask, 0]):
        if on and start is None:
            start = step
        if not on and start is not None:
            found.append((start, step))
            start = None
    return found


def thresholds_100(scores):
    return np.linspace(min(scores), max(scores), 100)


def best(metric, scores, labels):
    """The best value over 100 thresholds; an alarm needs a score above the threshold."""
    patterns = {tuple(s > limit for s in scores) for limit in thresholds_100(scores)}
    values = [metric(list(alarms), labels) for alarms in patterns]
    values = [value for value in values if not math.isnan(value)]
    return max(values) if values else math.nan


def precision_recall(alarms, labels):
    hits = sum(1 for a, y in zip(alarms, labels, strict=True) if a and y)
    return (hits / sum(alarms) if any(alarms) else 0.0), hits / sum(labels)


def auc_roc(scores, labels):
    """Over all pairs of an anomalous and a normal step: how often the first ranks higher."""
    wins = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a, y in zip(scores, labels, strict=True)
        if y
        for b, z in zip(scores, labels, strict=True)
        if not z
    ]
    return sum(wins) / len(wins)


def auc_pr(scores, labels):
    area, last = 0.0, 0.0
    for limit in sorted(set(scores), reverse=True):
        precision, recall = precision_recall([s >= limit for s in scores], labels)
        area += (recall - last) * precision
        last = recall
    return area


def standard_f1(scores, labels):
    values = []
    for limit in set(scores):
        precision, recall = precision_recall([s >= limit for s in scores], labels)
        values.append(2 * precision * recall / (precision + recall + 1e-5))
    return max(values)


def pa_f1(alarms, labels):
    adjusted = list(alarms)
    for start, stop in ranges(labels):
        if any(alarms[start:stop]):
            for step in range(start, stop):
                if step > 0:  # the quirk: step 0 is never filled in
                    adjusted[step] = True
    hits = sum(1 for a, y in zip(adjusted, labels, strict=True) if a and y)
    return 2 * hits / (sum(adjusted) + sum(labels))


def event_f1(alarms, labels):
    events = [(a, b if b < len(labels) else b - 1) for a, b in ranges(labels)]
    recall = sum(any(alarms[a:b]) for a, b in events) / len(events)
    precision, _ = precision_recall(alarms, labels)
    return 2 * recall * precision / (recall + precision + 1e-15)


def range_f1(alarms, labels):
    if all(alarms):  # the quirk: no edge, so no range
        return 0.0
    recall = range_reward(ranges(labels), ranges(alarms), existence=0.2)
    precision = range_reward(ranges(alarms), ranges(labels), existence=0.0)
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def range_reward(wanted, given, existence):
    total = 0.0
    for a, b in wanted:
        overlaps = [min(b, d) - max(a, c) for c, d in given if min(b, d) > max(a, c)]
        if overlaps:
            total += existence + (1 - existence) * sum(overlaps) / (b - a) / len(overlaps)
    return total / len(wanted) if wanted else 0.0


def affiliation_f1(alarms, labels):
    """Both integrands bend at multiples of 1/4 only, so sampling each quarter is exact."""
    events = ranges(labels)
    precisions, recalls = [], []
    for number, event in enumerate(events):
        left = (events[number - 1][1] + event[0]) / 2 if number else 0.0
        last = number + 1 == len(events)
        right = len(labels) if last else (event[1] + events[number + 1][0]) / 2
        precision, recall = affiliation_of_zone(alarms, event, left, right)
        precisions += [] if precision is None else [precision]
        recalls.append(recall)
    if not precisions:
        return math.nan
    p, r = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    return 2 * p * r / (p + r + 1e-15)


def affiliation_of_zone(alarms, event, left, right):
    zone = right - left
    start, stop = event
    times = [left + 0.125 + 0.25 * k for k in range(round(4 * zone))]
    pieces = [(max(a, left), min(b, right)) for a, b in ranges(alarms)]
    pieces = [(a, b) for a, b in pieces if a < b]
    if not pieces:
        return None, 0.0
    gains = []
    for t in times:
        if any(a < t < b for a, b in pieces):
            d = max(start - t, t - stop, 0.0)
            m = min(start - left, right - stop)
            gains.append(1 - (min(d, m) + d + (stop - start)) / zone if d else 1.0)
    heard = []
    for t in times:
        if start < t < stop:
            d = min(max(a - t, t - b, 0.0) for a, b in pieces)
            heard.append(1 - (min(d, t - left, right - t) + d) / zone)
    return sum(gains) / len(gains), sum(heard) / len(heard)


def extend_labels(labels, window):
    extended = [float(y) for y in labels]
    for a, b in ranges(labels):
        for d in range(1, window // 2 + 1):
            for step in (a - d, b - 1 + d):
                if 0 <= step < len(labels):
                    extended[step] = min(1.0, extended[step] + math.sqrt(1 - d / window))
    return extended


def skirted(labels, window):
    """Events with their skirts, merged where two skirts share a step."""
    reach, merged = window // 2, []
    for a, b in ranges(labels):
        if merged and merged[-1][1] > a - reach:
            merged[-1] = (merged[-1][0], b + reach)
        else:
            merged.append((max(a - reach, 0), b + reach))
    return merged


def vus(scores, labels, window):
    """(VUS-PR, VUS-ROC)."""
    areas = [range_areas(scores, labels, w) for w in range(window + 1)]
    return sum(a for a, _ in areas) / len(areas), sum(b for _, b in areas) / len(areas)


def range_areas(scores, labels, window):
    extended, groups = extend_labels(labels, window), skirted(labels, window)
    descending = sorted(scores, reverse=True)
    n, anomalous = len(labels), sum(labels)
    pr, roc, last_tpr, last_fpr = 0.0, 0.0, 0.0, 0.0
    for place in sorted(set(np.linspace(0, n - 1, 250).astype(int))):
        alarms = [s >= descending[place] for s in scores]
        found = sum(x for x, a in zip(extended, alarms, strict=True) if a)
        kept = sum(1.0 if y else x * a for x, a, y in zip(extended, alarms, labels, strict=True))
        wanted = (anomalous + kept) / 2
        exist = sum(any(alarms[a:b]) for a, b in groups) / len(groups)
        tpr = min(found / wanted, 1) * exist
        fpr = (sum(alarms) - found) / (n - wanted)
        pr += (tpr - last_tpr) * found / sum(alarms)
        roc += (fpr - last_fpr) * (tpr + last_tpr) / 2
        last_tpr, last_fpr = tpr, fpr
    return pr, roc + (1 - last_fpr) * (1 + last_tpr) / 2


def vus_alarms(alarms, labels, window):
    """(VUS-Precision, VUS-Recall, VUS-F); labels are carried over from window to window."""
    carried = [float(y) for y in labels]
    rows = []
    for w in range(window + 1):
        for a, b in ranges(labels):
            for d in range(1, w // 2 + 1):
                for step in (a - d, b - 1 + d):
                    if 0 <= step < len(labels):
                        carried[step] += math.sqrt(1 - d / w)
        carried = [
            1.0 if y else min(1.0, x) * a for x, a, y in zip(carried, alarms, labels, strict=True)
        ]
        found = sum(x for x, a in zip(carried, alarms, strict=True) if a)
        recall = min(found / ((sum(labels) + sum(carried)) / 2), 1)
        precision = found / sum(alarms)
        f = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        rows.append((precision, recall, f))
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))


@st.composite
def labelled(draw, largest=24):
    """(scores, labels) of the same length, with events and normal steps, many ties."""
    size = draw(st.integers(2, largest))
    labels = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    assume(0 < sum(labels) < size)
    top = draw(st.sampled_from([1, 3, 50]))
    scores = draw(st.lists(st.integers(0, top), min_size=size, max_size=size))
    return [float(s) for s in scores], labels


windows = st.integers(0, 14)
