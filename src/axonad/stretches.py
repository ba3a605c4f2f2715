"""Scores of a series with gaps: each stretch between them is scored on its own.

Rows of a stretch shorter than a window, and rows that are unusable, get the score NaN.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix
from axonad.data.series import Series
from axonad.data.timing import TimeCheck, find_runs, find_stretches
from axonad.errors import DataWarning, DivergedError, InputError

FloatArray = NDArray[np.float64]
Parts = tuple[FloatArray, dict[str, FloatArray], FloatArray | None]
"""Score, components and, if wanted, a value per channel, of each row."""


class StretchFinder:
    """Finds the stretches of a series, given part by part, that are as long as a window.

    Parameters
    ----------
    window
        Number of rows of a window.
    interval
        Sampling interval of training in seconds, None if it is not known.
    """

    def __init__(self, *, window: int, interval: float | None) -> None:
        self._window = window
        self._times = TimeCheck(interval)
        self._unusable: list[tuple[int, int]] = []

    def add(self, part: Series) -> None:
        """Add the next part of the series."""
        first = self._times.rows
        if part.unusable is not None:
            for start, end in find_runs(part.unusable):
                last = self._unusable[-1] if self._unusable else (0, -1)
                if last[1] == first + start:  # goes on from the part before
                    self._unusable[-1] = (last[0], first + end)
                else:
                    self._unusable.append((first + start, first + end))
        self._times.add(part.times, len(part))

    def finish(self, name: str, *, split: bool = True) -> list[slice] | None:
        """Return the stretches; None if the series is one without gaps.

        Warn about gaps and whatever else is odd about the times; raise InputError if they cannot be
        meant, or if no stretch is as long as a window. Without ``split`` gaps are only warned of.
        """
        self._times.finish(name)
        _warn(name, self._times.notes(spanned=not split))
        rows = self._times.rows
        found = find_stretches(rows, self._times.breaks, self._unusable)
        if not split or found == [slice(0, rows)]:
            return None
        long = [part for part in found if part.stop - part.start >= self._window]
        if not long:
            raise InputError(
                f"{name}: the longest of {len(found)} stretches between gaps has "
                f"{max((p.stop - p.start for p in found), default=0)} rows; expected at least the "
                f"{self._window} of a window"
            )
        unscored = rows - sum(part.stop - part.start for part in long)
        if unscored:
            note = f"{unscored} of {rows} rows get no score: values are missing there, or fewer "
            _warn(name, [note + f"than {self._window} rows follow one another without a gap"])
        return long


def stretches_of(
    X: Any, *, window: int, interval: float | None, split: bool = True
) -> list[slice] | None:
    """Return the stretches of ``X`` as :meth:`StretchFinder.finish` does."""
    if not isinstance(X, Series) or (X.times is None and X.unusable is None):
        return None
    finder = StretchFinder(window=window, interval=interval)
    finder.add(X)
    return finder.finish(X.name, split=split)


def cuts_of(stretches: list[slice] | None, rows: int) -> tuple[int, ...]:
    """Return the rows after the first at which a stretch, or a gap between two, begins."""
    edges = {edge for part in stretches or () for edge in (part.start, part.stop)}
    return tuple(sorted(edges - {0, rows}))


def score_stretches(
    explain: Callable[[Matrix], Parts], X: Matrix, stretches: list[slice] | None
) -> Parts:
    """Return the parts of the rows of ``X``, scored stretch by stretch, with NaN between them."""
    if stretches is None:
        return explain(X)
    found = [explain(X[part]) for part in stretches]

    def joined(pieces: list[FloatArray]) -> FloatArray:
        whole = np.full((len(X), *pieces[0].shape[1:]), np.nan)
        for part, piece in zip(stretches, pieces, strict=True):
            whole[part] = piece
        return whole

    components = {name: joined([parts[1][name] for parts in found]) for name in found[0][1]}
    blame = [parts[2] for parts in found if parts[2] is not None]
    return joined([parts[0] for parts in found]), components, joined(blame) if blame else None


def finite_scores(scores: FloatArray, *, of: object) -> FloatArray:
    """Return scores of a detector; raise DivergedError if one is NaN or infinite."""
    scores = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise DivergedError(
            f"{type(of).__name__} gave scores that are not finite; look for extreme values "
            "in X and in the training data, or fit a network again with a smaller lr"
        )
    return scores


# -- training --------------------------------------------------------------------------------


def training_interval(X: Any) -> float | None:
    """Return the sampling interval of training data in seconds, None if it has no times.

    Warn about gaps and whatever else is odd about the times; raise InputError if the rows are not
    in order.
    """
    if not isinstance(X, Series) or X.times is None:
        return None
    check = TimeCheck()
    check.add(X.times, len(X))
    check.finish(X.name)
    _warn(X.name, check.notes(spanned=True))
    return check.own_interval


def without_unusable(X: Any) -> Any:
    """Return training data without the rows that are marked unusable, and say how many."""
    if not isinstance(X, Series) or X.unusable is None:
        return X
    count = int(X.unusable.sum())
    _warn(X.name, [f"{count} of {len(X)} rows have missing values and are not learned from"])
    return X.select(~X.unusable)


def _warn(name: str, notes: list[str]) -> None:
    for note in notes:
        warnings.warn(f"{name}: {note}", DataWarning, stacklevel=5)
