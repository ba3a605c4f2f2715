"""Thresholds where no score comes near them, so that another CPU finds the same events.

Written for release 0.2.0, with whose code alone the fixtures were made.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

import axonad
from axonad.alarms.machine import AdaptiveThreshold
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.scored import placed_at_end, without_lead
from axonad.data.holding import hold_missing
from tests.golden.cases import PAIRS
from tests.golden.series import as_series

WANTED = 0.0115  # distance of the nearest score, as a share of the threshold
NUDGE = (0.05, 0.1, 0.15, 0.1, 1.0)  # the noise of the channels that are judged


def judged_scores(detector, *, pair, at_end):
    """Return the scores of the series of a pair that its events are judged by."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        series = as_series(pair)
        if pair.hold is not None:
            series = hold_missing(series, max_hold=pair.hold, interval=detector.interval_)
        judge = detector
        if pair.allow_missing:
            judge = detector.without(
                [n for n in detector.channel_names if n not in series.channels]
            )
        seen = (placed_at_end(judge) if at_end else judge).explain(series)
    lead = seen.lead if at_end else 0
    return without_lead(seen.scores, lead=lead, cuts=seen.cuts)


def scores_of(model, detector, *, at_end):
    """Return the scores of all series of a model."""
    own = [pair for pair in PAIRS if pair.model == model and not pair.refused]
    return [judged_scores(detector, pair=pair, at_end=at_end) for pair in own]


def distances(scores, policy: AlarmPolicy):
    """Return how near each score comes to the thresholds in force, as a share of these."""
    lowered = scores - AdaptiveThreshold(policy).push_many(scores)
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
"""Models whose threshold no score reaches; it is placed at this quantile of the scores."""


def place_thresholds(model, detector):
    """Move the thresholds of a fitted detector; print how near the scores come to them."""
    setup = detector.alarm_setup_
    if model in QUIET:
        scores = scores_of(model, detector, at_end=setup is not None)
        level = float(np.nanquantile(np.concatenate(scores), QUIET[model]))
        if setup is None:
            detector.threshold_ = level
        else:
            setup = replace(setup, policy=replace(setup.policy, start=level, end=0.8 * level))
    if setup is None:
        scores = scores_of(model, detector, at_end=False)
        old = detector.threshold_
        detector.threshold_ = float(gaps(scores, 0.7 * old, 1.6 * old)[0])
        policy = AlarmPolicy(start=detector.threshold_)
        print(
            model, "threshold", old, "->", detector.threshold_, "distance", distance(scores, policy)
        )
        return
    scores = scores_of(model, detector, at_end=True)
    old, best = setup.policy, (0.0, setup.policy)
    for start in gaps(scores, 0.8 * old.start, 1.8 * old.start):
        ends = [end for end in gaps(scores, 0.6 * start, start) if end < 0.97 * start]
        for end in ends[:25]:
            policy = replace(old, start=float(start), end=float(end))
            best = max(best, (distance(scores, policy), policy), key=lambda one: one[0])
    detector.set_alarms(replace(setup, policy=best[1]))
    print(
        model,
        f"start {old.start:.4g} -> {best[1].start:.4g}, end {best[1].end:.4g},",
        f"distance {best[0]:.4f}",
    )


def nearness(judges):
    """Return how far scores lie within ``WANTED`` of a threshold, summed, and the rows that do.

    ``judges`` are pairs with their fitted detectors.
    """
    total, rows = 0.0, []
    for pair, detector in judges:
        setup = detector.alarm_setup_
        policy = AlarmPolicy(start=detector.threshold_) if setup is None else setup.policy
        scores = judged_scores(detector, pair=pair, at_end=setup is not None)
        near = distances(scores, policy)
        total += float(np.maximum(0, WANTED - near).sum())
        rows += np.flatnonzero(near < WANTED).tolist()
    return total, rows


def keep_away(judges, values, write, *, tries=400, seed=5):
    """Add a little noise to rows before those at which a score is near a threshold, until none is.

    Noise stays if scores of all pairs of the series are further from thresholds with it.
    """
    rng = np.random.default_rng(seed)
    best, rows = nearness(judges)
    for _ in range(tries):
        if not rows:
            break
        row = max(1, int(rng.choice(rows)) - int(rng.integers(0, 6)))
        moves = (values[row, :5] != values[row - 1, :5]) & (rng.random(5) > 0.4)
        noise = rng.normal(size=5) * NUDGE * rng.choice([1, 2, 4, 8], size=5) * moves
        changed = values.copy()
        changed[row, :5] = np.round(changed[row, :5] + noise, 4)
        write(changed)
        found, near = nearness(judges)
        if found < best:
            best, rows, values = found, near, changed
    write(values)
    print(f"{judges[0][0].series}: {len(rows)} scores near a threshold {rows}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for pair in PAIRS:
        if not pair.refused:
            total, rows = nearness([(pair, axonad.load(pair.model_path))])
            print(
                f"{pair.name}: {len(rows)} scores within {WANTED:.1%} of a threshold {rows[:10]}",
                flush=True,
            )
