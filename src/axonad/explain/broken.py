"""Broken relations: the few channels that told what a blamed channel is, and no longer do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from axonad.explain.expected import to_input
from axonad.explain.relations import Relations
from axonad.explain.why import BrokenRelation

Array = NDArray[np.float64]

MOST_GIVEN = 3
GAIN = 0.15  # share of the variance left that one more channel must explain
MOST_POINTS = 300
CANDIDATES = 40  # channels tried as predictors, those most correlated


def find_predictors(relations: Relations, target: int, suspects: Sequence[int]) -> tuple[int, ...]:
    """Return up to three channels that best predict ``target`` together, strongest first.

    Suspects are never among them. At least one is returned if there is one.
    """
    now = np.arange(relations.features.channels)
    moments = relations.moments[np.ix_(now, now)]
    power = np.maximum(np.diag(moments), 1e-12)
    close = np.abs(moments[target]) / np.sqrt(power)
    close[[target, *suspects]] = -1.0
    order = np.argsort(-close, kind="stable")[:CANDIDATES].tolist()
    free = [j for j in order if close[j] >= 0]
    chosen: tuple[int, ...] = ()
    left = float(moments[target, target])
    while free and len(chosen) < MOST_GIVEN:
        tried = [(relations.variance_left(target, (*chosen, j)), j) for j in free]
        best, j = min(tried)
        if chosen and best > (1.0 - GAIN) * left:
            break
        chosen, left = (*chosen, j), best
        free.remove(j)
    return chosen


def find_broken(
    relations: Relations, features: Array, target: int, suspects: Sequence[int],
    names: Sequence[str],
) -> BrokenRelation | None:  # fmt: skip
    """Return how a channel is related to its best predictors in these rows and in training."""
    given = find_predictors(relations, target, suspects)
    if not given:
        return None
    prediction = relations.predict((target,), given)
    then_predicted, then_actual = relations.held_out(prediction)
    now_predicted = features @ prediction.weights + prediction.offset
    now_actual = features[:, [target]] + prediction.offset
    error = float(np.sqrt(np.square(now_actual - now_predicted).mean()))

    def points(scaled: Array) -> Array:
        step = max(1, -(-len(scaled) // MOST_POINTS))
        return to_input(relations.reference.scaler, scaled[::step], [target])[:, 0]

    listed = tuple(names[j] for j in given)
    return BrokenRelation(
        names[target], listed, error / float(prediction.size[0]),
        f"{names[target]} given {', '.join(listed)}",
        points(then_predicted), points(then_actual), points(now_predicted), points(now_actual),
    )  # fmt: skip
