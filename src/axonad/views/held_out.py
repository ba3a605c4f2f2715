"""Linear predictions whose strength, units and training scores come from rows not learned from.

The training rows are cut into five folds, each of rows that follow one another, or of whole
recordings where there are at least three. For each of them, a prediction is fitted on the other
four and leaves residuals on it. These held-out residuals decide three things:

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

import numpy as np
from numpy.typing import NDArray

from axonad.data.recordings import Recordings
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
    """Rows of a fold that follow one another, and the map to residuals of a fit without it."""

    start: int
    stop: int
    map: Array  # (inputs, channels)

    def within(self, part: slice) -> bool:
        """Whether the rows lie in a stretch."""
        return bool(part.start <= self.start < part.stop)

    def earlier(self, rows: int) -> Fold:
        """Return the same with so many rows before it cut off."""
        return Fold(self.start - rows, self.stop - rows, self.map)


@dataclass(frozen=True)
class HeldOutFit:
    """A map from lagged rows to residuals, fitted on all rows, and what held-out rows say."""

    map: Array  # (inputs, channels)
    spread: Array  # (channels,): root mean square of held-out residuals, see this module
    folds: tuple[Fold, ...]

    @property
    def last_fold(self) -> Fold:
        """The first rows of the last fold that follow one another."""
        return next(fold for fold in self.folds if fold.map is self.folds[-1].map)


def fit_held_out(rows: Rows, recordings: Recordings, *, lags: int, solve: Solve) -> HeldOutFit:
    """Fit on all rows with enough rows before them, and on all but each of five folds of them."""
    numbers = recordings.folds(lags + 1, FOLDS)
    pieces = [
        [(start + lags, stop + lags) for start, stop in recordings.ranges(lags + 1, *fold)]
        for fold in numbers
    ]
    moments = [
        np.sum([lagged_moments(rows, *piece, lags=lags) for piece in fold], axis=0)
        for fold in pieces
    ]
    sizes = np.array([stop - start for start, stop in numbers])
    total, count = np.sum(moments, axis=0), recordings.count(lags + 1)
    channels = rows(0, 1).shape[1]
    best = np.full(channels, np.inf)
    squares = np.zeros((len(sizes), channels))  # mean squared residual of each fold
    maps = np.zeros((len(sizes) + 1, len(total), channels))  # the last one is that of all rows
    for penalty in PENALTIES:
        fitted, errors = [], []
        for own, size in zip(moments, sizes, strict=True):
            fitted.append(solve((total - own) / (count - size), penalty))
            errors.append(np.einsum("ij,ij->j", fitted[-1], own @ fitted[-1]) / size)
        error = sizes @ np.array(errors)
        better = error < best
        if better.any():
            fitted.append(solve(total / count, penalty))
            best = np.where(better, error, best)
            squares[:, better] = np.array(errors)[:, better]
            maps[:, :, better] = np.array(fitted)[:, :, better]
    spread = np.sqrt(np.maximum(squares, 0.0).max(axis=0))
    folds = [Fold(*piece, own) for fold, own in zip(pieces, maps, strict=False) for piece in fold]
    return HeldOutFit(maps[-1], spread, tuple(folds))


def require_rows(name: str, rows: int, *, lags: int) -> None:
    """Raise InputError if there are too few training rows to hold some out."""
    least = lags + LEAST * FOLDS
    if rows < least:
        raise InputError(
            f"{name} with lags={lags} needs at least {least} training rows, got {rows}; fit on "
            "more rows or set fewer lags"
        )
