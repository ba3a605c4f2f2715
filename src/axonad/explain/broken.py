"""Broken relations: the few channels that told what a blamed channel is, and no longer do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from axonad.explain.relations import Relations, find_predictors
from axonad.explain.why import BrokenRelation

Array = NDArray[np.float64]

MOST_POINTS = 300


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
        return relations.reference.unscale(scaled[::step], [target])[:, 0]

    listed = tuple(names[j] for j in given)
    return BrokenRelation(
        names[target], listed, error / float(prediction.size[0]),
        f"{names[target]} given {', '.join(listed)}",
        points(then_predicted), points(then_actual), points(now_predicted), points(now_actual),
    )  # fmt: skip
