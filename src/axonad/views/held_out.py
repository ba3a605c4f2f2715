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
which are summed in blocks of rows. Many channels are divided into groups, each with inputs of its
own (:mod:`axonad.views.channel_groups`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.data.recordings import Recordings
from axonad.errors import InputError
from axonad.views.channel_groups import divide
from axonad.views.lagged_map import LaggedMap
from axonad.views.lagged_rows import LaggedMoments, Rows

Array = NDArray[np.float64]
Solve = Callable[[Array, float, int], Array]
"""Returns, for the mean moments of lagged rows, a penalty and a number of targets, which are the
first channels, the map from lagged rows to residuals of the targets."""

FOLDS = 5
LEAST = 2  # rows of a fold
PENALTIES = tuple(10.0**power for power in range(-6, 1, 2))  # in units of a channel's variance


@dataclass(frozen=True)
class Fold:
    """Rows of a fold that follow one another, and the map to residuals of a fit without it."""

    start: int
    stop: int
    map: LaggedMap

    def within(self, part: slice) -> bool:
        """Whether the rows lie in a stretch."""
        return bool(part.start <= self.start < part.stop)

    def earlier(self, rows: int) -> Fold:
        """Return the same with so many rows before it cut off."""
        return Fold(self.start - rows, self.stop - rows, self.map)


@dataclass(frozen=True)
class HeldOutFit:
    """A map from lagged rows to residuals, fitted on all rows, and what held-out rows say."""

    map: LaggedMap
    spread: Array  # (channels,): root mean square of held-out residuals, see this module
    folds: tuple[Fold, ...]

    @property
    def last_fold(self) -> Fold:
        """The first rows of the last fold that follow one another."""
        return next(fold for fold in self.folds if fold.map is self.folds[-1].map)


class Fits(NamedTuple):
    """The maps of some channels, and the mean squares of their held-out residuals."""

    folds: list[Array]  # of each (inputs, channels)
    map: Array  # (inputs, channels)
    squares: Array  # (folds, channels)


def fit_held_out(
    rows: Rows, recordings: Recordings, *, lags: int, solve: Solve, context: tuple[int, ...] = ()
) -> HeldOutFit:
    """Fit on all rows with enough rows before them, and on all but each of five folds of them.

    The channels in ``context`` have no residuals; their maps are 0.
    """
    numbers = recordings.folds(lags + 1, FOLDS)
    pieces = [
        [(start + lags, stop + lags) for start, stop in recordings.ranges(lags + 1, *fold)]
        for fold in numbers
    ]
    moments = [LaggedMoments.of(rows, fold, lags=lags) for fold in pieces]
    sizes = np.array([stop - start for start, stop in numbers])
    groups = divide(sum(each.first for each in moments) / sizes.sum())
    squares = np.zeros((len(sizes), moments[0].first.shape[1]))
    weights: list[list[Array]] = [[] for _ in range(len(sizes) + 1)]  # the last is of all rows
    for group in groups:
        own = [group.moments(each).whole() for each in moments]
        found = _fit(own, sizes, solve, len(group.targets))
        squares[:, group.targets] = found.squares
        for known, each in zip(weights, (*found.folds, found.map), strict=True):
            known.append(each.reshape(lags + 1, -1, each.shape[1]))
    maps = [LaggedMap(groups, tuple(each)).without(context) for each in weights]
    spread = np.sqrt(np.maximum(squares, 0.0).max(axis=0))
    folds = [Fold(*piece, own) for fold, own in zip(pieces, maps, strict=False) for piece in fold]
    return HeldOutFit(maps[-1], spread, tuple(folds))


def _fit(moments: list[Array], sizes: NDArray[np.int64], solve: Solve, targets: int) -> Fits:
    """Return the maps of the first channels, each with the penalty that is best for it."""
    total, count = np.sum(moments, axis=0), sizes.sum()
    folds, squares = [], np.zeros((len(sizes), len(PENALTIES), targets))
    for own, size, left in zip(moments, sizes, squares, strict=True):
        rest = (total - own) / (count - size)
        folds.append([solve(rest, penalty, targets) for penalty in PENALTIES])
        left[:] = [np.einsum("ij,ij->j", found, own @ found) / size for found in folds[-1]]
    best = np.tensordot(sizes, squares, 1).argmin(axis=0)
    total /= count
    whole = {i: solve(total, PENALTIES[i], targets) for i in np.unique(best).tolist()}
    maps = [_pick(each, best) for each in folds]
    return Fits(maps, _pick(whole, best), squares[:, best, np.arange(targets)])


def _pick(maps: Sequence[Array] | Mapping[int, Array], best: NDArray[np.intp]) -> Array:
    """Return each column from the map that is best for it."""
    return np.stack([maps[i][:, j] for j, i in enumerate(best.tolist())], axis=1)


def require_rows(name: str, rows: int, *, lags: int) -> None:
    """Raise InputError if there are too few training rows to hold some out."""
    least = lags + LEAST * FOLDS
    if rows < least:
        raise InputError(
            f"{name} with lags={lags} needs at least {least} training rows, got {rows}; fit on "
            "more rows or set fewer lags"
        )
