"""Thresholds where no score comes near them, so that another CPU finds the same events.

Written for release 0.2.0, with whose code alone the fixtures were made.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from axonad.alarms.following import Lift
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.scored import placed_at_end, without_lead
from axonad.data.holding import hold_missing
from tests.golden.cases import PAIRS
from tests.golden.series import as_series

WANTED = 0.012  # distance of the nearest score, as a share of the threshold
PASSES = 150
APART = 40  # rows
NUDGE = (0.05, 0.1, 0.15, 0.1, 1.0, 0.02)  # the noise of the channels


def judged_scores(detector, *, model, at_end, series_name=None):
    """Return the scores of each series of a model that events are judged by."""
    found = []
    for pair in PAIRS:
        if pair.model != model or pair.refused:
            continue
        if series_name not in (None, pair.series):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            series = as_series(pair)
            if pair.hold is not None:
                series = hold_missing(series, max_hold=pair.hold, interval=detector.interval_)
            judge = detector
            if pair.allow_missing:
                judge = detector.without([n for n in detector.channel_names if n not in series.channels])
            seen = (placed_at_end(judge) if at_end else judge).explain(series)
        lead = seen.lead if at_end else 0
        found.append(without_lead(seen.scores, lead=lead, cuts=seen.cuts))
    return found


def distances(scores, policy: AlarmPolicy):
    """Return how near each score comes to the thresholds in force, as a share of these."""
    lowered = scores - Lift(policy).push_many(scores)
    nearest = [np.abs(lowered - level) / level for level in (policy.start, policy.release)]
    return np.nan_to_num(np.minimum(*nearest), nan=np.inf)


def distance(scores, policy: AlarmPolicy) -> float:
    """Return how near the scores of all series come to the thresholds in force."""
    return min(float(distances(one, policy).min()) for one in scores)


def gaps(scores, low, high):
    """Return the middles of the widest gaps between scores in a range, the widest first."""
    values = np.sort(np.concatenate([one[np.isfinite(one)] for one in scores]))
    values = np.concatenate([[low], values[(values > low) & (values < high)], [high]])
    order = np.argsort(-np.diff(values) / values[1:], kind="stable")[:40]
    return (values[order] + values[order + 1]) / 2


QUIET = {"axonad-budget": 0.97, "pca": 0.97}
"""Models whose threshold no score reaches; it is placed about this quantile of the scores instead."""


def place_thresholds(model, detector):
    """Move the thresholds of a fitted detector; print how near the scores come to them."""
    setup = detector.alarm_setup_
    if model in QUIET:
        scores = judged_scores(detector, model=model, at_end=setup is not None)
        level = float(np.nanquantile(np.concatenate(scores), QUIET[model]))
        if setup is None:
            detector.threshold_ = level
        else:
            setup = replace(setup, policy=replace(setup.policy, start=level, end=0.8 * level))
    if setup is None:
        scores = judged_scores(detector, model=model, at_end=False)
        old = detector.threshold_
        detector.threshold_ = float(gaps(scores, 0.7 * old, 1.6 * old)[0])
        policy = AlarmPolicy(start=detector.threshold_)
        print(model, "threshold", old, "->", detector.threshold_, "distance", distance(scores, policy))
        return
    scores = judged_scores(detector, model=model, at_end=True)
    old, best = setup.policy, (0.0, setup.policy)
    for start in gaps(scores, 0.8 * old.start, 1.8 * old.start):
        ends = [end for end in gaps(scores, 0.6 * start, start) if end < 0.97 * start]
        for end in ends[:25]:
            policy = replace(old, start=float(start), end=float(end))
            best = max(best, (distance(scores, policy), policy), key=lambda one: one[0])
    detector.set_alarms(replace(setup, policy=best[1]))
    print(model, f"start {old.start:.4g} -> {best[1].start:.4g}, end {best[1].end:.4g}, distance {best[0]:.4f}")


def near_rows(models, series_name):
    """Return the rows of a series at which a score of any model is near a threshold, one for each model."""
    found = []
    for model, detector in models.items():
        setup = detector.alarm_setup_
        policy = AlarmPolicy(start=detector.threshold_) if setup is None else setup.policy
        for scores in judged_scores(
            detector, model=model, at_end=setup is not None, series_name=series_name
        ):
            found += np.flatnonzero(distances(scores, policy) < WANTED).tolist()
    return np.array(sorted(found), dtype=int)


def clusters(rows):
    """Return the first and last row of each run of rows that lie less than ``APART`` from each other."""
    parts = np.split(rows, np.flatnonzero(np.diff(rows) > APART) + 1)
    return [(int(part[0]), int(part[-1])) for part in parts if len(part)]


def keep_away(models, series_name, values, write):
    """Add a little noise to the rows at which a score is near a threshold, until none is.

    Each run of such rows is tried by itself: noise stays if fewer rows about it are near a threshold.
    """
    rng = np.random.default_rng(sum(map(ord, series_name)))
    rows = near_rows(models, series_name)
    for number in range(PASSES):
        if not len(rows):
            break
        before, tried = values.copy(), clusters(rows)
        for first, last in tried:
            near = rows[(rows >= first) & (rows <= last)]
            for row in {int(r) for r in rng.choice(near, size=min(3, len(near)))}:
                moves = values[row, :6] != values[row - 1, :6]
                noise = np.round(rng.normal(size=6) * NUDGE * moves * rng.choice([0.5, 1.0, 2.0, 4.0, 8.0]), 4)
                values[row, :6] = np.round(values[row, :6] + noise, 4)
        write(values)
        after = near_rows(models, series_name)
        for first, last in tried:
            about = slice(max(0, first - APART), last + APART)
            if count(after, about) > count(rows, about):
                values[about, :6] = before[about, :6]
        write(values)
        rows = near_rows(models, series_name)
    print(f"{series_name}: {len(rows)} scores near a threshold after {number} passes {sorted(set(rows))}", flush=True)


def count(rows, about):
    """Return how many rows lie in a slice."""
    return int(((rows >= about.start) & (rows < about.stop)).sum())
