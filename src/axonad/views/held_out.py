"""Linear predictions whose strength, units and training scores come from rows not learned from.

The training rows are cut into five folds, each of rows that follow one another. For each of them, a
prediction is fitted on the other four and leaves residuals on it. These held-out residuals decide
three things:

- the ridge penalty of each channel: the one with the smallest squared residual over all folds;
- the unit of a channel's residual: its root mean square in the fold where that is largest, so that
  a channel which is busy in one part of the training series only is not given the unit of its quiet
  parts;
- the training scores, and with them the threshold.

The prediction that is kept is fitted on all rows. All fits need the moments of the five folds only,
which are summed in blocks of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from axonad.errors import InputError
from axonad.views.lagged_rows import Rows, lagged_moments

Array = NDArray[np.float64]
Solve = Callable[[Array, float], Array]
"""Returns, for the mean moments of lagged rows and a penalty, the map to residuals."""

FOLDS = 5
LEAST = 2  # rows of a fold
PENALTIES = tuple(10.0**power for power in range(-6, 1, 2))  # in units of a channel's variance


@dataclass(frozen=True)
class Fold:
    """Rows that are scored together, and the map to the residuals of a fit without them."""

    start: int
    stop: int
    map: Array  # (inputs, channels)


@dataclass(frozen=True)
class HeldOutFit:
    """A map from lagged rows to residuals, fitted on all rows, and what held-out rows say."""

    map: Array  # (inputs, channels)
    spread: Array  # (channels,): root mean square of held-out residuals, see this module
    folds: tuple[Fold, ...]


def fit_held_out(rows: Rows, count: int, *, lags: int, solve: Solve) -> HeldOutFit:
    """Fit on ``count`` rows and on all but each of five folds of them."""
    edges = np.linspace(lags, count, FOLDS + 1).astype(int).tolist()
    parts = list(pairwise(edges))
    moments = [lagged_moments(rows, start, stop, lags=lags) for start, stop in parts]
    sizes = np.diff(edges)
    total = np.sum(moments, axis=0)
    channels = rows(0, 1).shape[1]
    best = np.full(channels, np.inf)
    squares = np.zeros((FOLDS, channels))  # mean squared residual of each fold
    maps = np.zeros((FOLDS + 1, len(total), channels))  # the last one is that of all rows
    for penalty in PENALTIES:
        fitted, errors = [], []
        for own, size in zip(moments, sizes, strict=True):
            fitted.append(solve((total - own) / (count - lags - size), penalty))
            errors.append(np.einsum("ij,ij->j", fitted[-1], own @ fitted[-1]) / size)
        error = sizes @ np.array(errors)
        better = error < best
        if better.any():
            fitted.append(solve(total / (count - lags), penalty))
            best = np.where(better, error, best)
            squares[:, better] = np.array(errors)[:, better]
            maps[:, :, better] = np.array(fitted)[:, :, better]
    spread = np.sqrt(np.maximum(squares, 0.0).max(axis=0))
    folds = tuple(Fold(*part, own) for part, own in zip(parts, maps, strict=False))
    return HeldOutFit(maps[-1], spread, folds)


def require_rows(name: str, rows: int, *, lags: int) -> None:
    """Raise InputError if there are too few training rows to hold some out."""
    least = lags + LEAST * FOLDS
    if rows < least:
        raise InputError(
            f"{name} with lags={lags} needs at least {least} training rows, got {rows}; fit on "
            "more rows or set fewer lags"
        )
