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
from axonad.data.timing import check_times, find_stretches
from axonad.errors import DataWarning, InputError

FloatArray = NDArray[np.float64]
Parts = tuple[FloatArray, dict[str, FloatArray], FloatArray | None]
"""Score, components and, if wanted, a value per channel, of each row."""


def training_interval(X: Any) -> float | None:
    """Return the sampling interval of training data in seconds, None if it has no times.

    Warn about gaps and whatever else is odd about the times; raise InputError if the rows are not
    in order.
    """
    if not isinstance(X, Series) or X.times is None:
        return None
    check = check_times(X.times, len(X))
    _warn(X, check.notes(spanned=True))
    return check.own_interval


def without_unusable(X: Any) -> Any:
    """Return training data without the rows that are marked unusable, and say how many."""
    if not isinstance(X, Series) or X.unusable is None:
        return X
    count = int(X.unusable.sum())
    _warn(X, [f"{count} of {len(X)} rows have missing values and are not learned from"])
    return X.select(~X.unusable)


def stretches_of(
    X: Any, *, window: int, interval: float | None, split: bool = True
) -> list[slice] | None:
    """Return the stretches of ``X`` that have a full window; None if it is one without gaps.

    Warn about gaps and whatever else is odd about the times; raise InputError if they cannot be
    meant, or if no stretch is as long as a window. ``interval`` is that of training; without
    ``split`` gaps are only warned of.
    """
    if not isinstance(X, Series) or (X.times is None and X.unusable is None):
        return None
    check = check_times(X.times, len(X), interval=interval)
    _warn(X, check.notes(spanned=not split))
    if not split:
        return None
    found = find_stretches(len(X), check.breaks, X.unusable)
    if len(found) == 1 and found[0] == slice(0, len(X)):
        return None
    long = [part for part in found if part.stop - part.start >= window]
    scored = sum(part.stop - part.start for part in long)
    if not long:
        raise InputError(
            f"no stretch of {X.name} between gaps has the {window} rows of a window; the longest "
            f"of {len(found)} has {max((p.stop - p.start for p in found), default=0)}"
        )
    if scored < len(X):
        _warn(X, [unscored_note(len(X) - scored, len(X), window)])
    return long


def unscored_note(unscored: int, rows: int, window: int) -> str:
    """Return the sentence about rows without a score."""
    return (
        f"{unscored} of {rows} rows get no score: values are missing there, or fewer than {window} "
        "rows follow one another without a gap"
    )


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


def _warn(series: Series, notes: list[str]) -> None:
    for note in notes:
        warnings.warn(f"{series.name}: {note}", DataWarning, stacklevel=5)
