"""The expected course of channels, from channels that are not to blame and from their own past.

:func:`expect` is that of the channels of an event, :func:`expect_all` that of all channels in any
rows, each from the others alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix
from axonad.explain.relations import Prediction, Relations

Array = NDArray[np.float64]

GUARD = 5  # rows before the fault that may belong to it
PAST = 10  # rows before these that tell where the channel was
NARROWEST = 0.1  # smallest band, as a share of the usual one


BLOCK = 8_192  # rows at a time


class Expected(NamedTuple):
    """Expected value, low and high (rows, channels) in units of the input, NaN where unknown."""

    value: Array
    low: Array
    high: Array


def expect(relations: Relations, X: Array, prediction: Prediction, *, first: int) -> Expected:
    """Return what some channels should have been in the rows ``X``.

    The fault begins in row ``first``. The first rows, whose features need rows before, are NaN.

    A residual that held-out rows keep for a while is taken along from before the fault: h rows
    away a share memory^h of it is left, and the band grows accordingly.
    """
    columns = list(prediction.targets)
    features = relations.features_of(X)
    reach = len(X) - len(features)
    predicted = features @ prediction.weights + prediction.offset
    actual = relations.reference.scale(X)[reach:, columns]
    before = slice(max(0, first - reach - GUARD - PAST), max(0, first - reach - GUARD))
    left = actual[before] - predicted[before]
    rows = np.arange(len(features))[:, None]
    away = np.abs(rows - (first - reach - GUARD))
    share = prediction.memory**away if len(left) else np.zeros((len(features), len(columns)))
    kept = share * (left.mean(axis=0) if len(left) else 0.0)
    quick = np.minimum(2.0 * (1.0 - prediction.memory**PAST), 1.0)  # what varies within PAST rows
    usual = np.sqrt(np.maximum(1.0 - share**2, np.maximum(quick, NARROWEST**2)))
    value, half = predicted + kept, prediction.band * usual
    result = np.full((3, len(X), len(columns)), np.nan)
    for i, scaled in enumerate((value, value - half, value + half)):
        result[i, reach:] = relations.reference.unscale(scaled, columns)
    return Expected(*result)


def expect_all(relations: Relations, X: Matrix, *, blamed: tuple[int, ...] = ()) -> Array:
    """Return what each channel should have been in rows that follow one another, by the others.

    ``blamed`` are channels that are no input: they and all others are predicted without them. The
    first rows, whose features need rows before, are NaN. Rows are in units of the input.
    """
    columns = list(range(X.shape[1]))
    weights = relations.residuals(blamed).map
    prediction = relations.predict(blamed) if blamed else None
    reach = relations.features.reach
    result = np.full(X.shape, np.nan)
    for start in range(reach, len(X), BLOCK):
        stop = min(start + BLOCK, len(X))
        rows = np.asarray(X[start - reach : stop], dtype=np.float64)
        features = relations.features_of(rows)
        scaled = relations.reference.scale(rows)[reach:] - features @ weights
        if prediction is not None:
            scaled[:, list(blamed)] = features @ prediction.weights + prediction.offset
        result[start:stop] = relations.reference.unscale(scaled, columns)
    return result
