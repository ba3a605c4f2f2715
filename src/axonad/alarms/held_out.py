"""Scores of normal data that a detector did not learn from.

Three ways, from cheap to dear:

- the detector is fitted already and the recordings are new to it: they are scored, nothing is
  fitted (:func:`score_new`);
- several recordings: each is left out in turn, a detector with the same parameters is fitted on the
  others and scores the one left out (:func:`score_left_out`);
- one recording: the same with stretches of it. The rows next to the stretch that is left out, as
  many as a score needs, are not learned from either, so no training window shares a row with it.

No window of a fit reaches from one recording to the next. Scores of different fits are taken for
scores of one detector.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.calibration import Recording
from axonad.alarms.scored import without_lead
from axonad.config import check_int
from axonad.data.frames import Matrix, Names, match_channels, to_matrix
from axonad.data.series import Series
from axonad.errors import InputError

if TYPE_CHECKING:
    from axonad.alarmed import Alarmed

FOLDS = 5


def score_new(detector: Alarmed, recordings: Sequence[Any]) -> list[Recording]:
    """Return the scores of recordings by a fitted detector that has not seen them."""
    return [_score(detector, X, name_of(X, i)) for i, X in enumerate(recordings)]


def score_left_out(
    detector: Alarmed, recordings: Sequence[Any], *, folds: int = FOLDS
) -> list[Recording]:
    """Return the scores of recordings, each by a detector fitted without it.

    ``detector`` gives class and parameters; it is not changed and need not be fitted. At most
    ``folds`` detectors are fitted: with more recordings some are left out together.
    """
    check_int("folds", folds, low=2)
    if not recordings:
        raise InputError("give at least one recording of normal data")
    if len(recordings) == 1:
        return list(_by_stretch(detector, recordings[0], folds))
    names = [name_of(X, i) for i, X in enumerate(recordings)]
    matrices, channels = _same_channels(recordings)
    scored: dict[int, Recording] = {}
    for fold in range(min(folds, len(recordings))):
        out = [i for i in range(len(recordings)) if i % folds == fold]
        kept = [matrix for i, matrix in enumerate(matrices) if i not in out]
        fitted = _fit(detector, kept, channels)
        scored |= {i: _score(fitted, recordings[i], names[i]) for i in out}
    return [scored[i] for i in range(len(recordings))]


def _by_stretch(detector: Alarmed, X: Any, folds: int) -> Iterator[Recording]:
    """Yield the scores of stretches of one recording, each by a detector fitted on the others."""
    values, channels = to_matrix(X)
    usable = ~unusable_rows(X, len(values))
    margin = detector.history
    shortest = len(values) // folds
    if shortest < 2 * margin or len(values) - shortest - 2 * margin < 2 * margin:
        raise InputError(
            f"{name_of(X, 0)} has {len(values)} rows, too few for {folds} held-out stretches of at "
            f"least {2 * margin} rows, twice what a score needs; give more normal data"
        )
    edges = np.linspace(0, len(values), folds + 1).astype(int).tolist()
    for start, stop in itertools.pairwise(edges):
        ends = slice(0, max(0, start - margin)), slice(stop + margin, None)
        fitted = _fit(detector, [values[part][usable[part]] for part in ends], channels)
        part = X.rows(start, stop) if isinstance(X, Series) else values[start:stop]
        yield _score(fitted, part, f"{name_of(X, 0)}, rows {start} to {stop - 1}")


def _fit(detector: Alarmed, kept: Sequence[Matrix], channels: Names) -> Alarmed:
    twin = type(detector)(**detector.get_params() | {"alarm_budget": None})
    long = [part for part in kept if len(part) >= twin.history] or [np.concatenate(kept)]
    if not (twin.divides or twin.history == 1):
        long = [np.concatenate(kept)]
    if channels is None:
        return twin.fit(long)
    return twin.fit([Series(values=part, channels=channels) for part in long])


def _score(detector: Alarmed, X: Any, name: str) -> Recording:
    try:
        found = detector.explain(X, blame=False)
    except InputError as error:
        raise InputError(f"{name} cannot be used for calibration: {error}") from None
    scores = without_lead(found.scores, lead=found.lead, cuts=found.cuts)
    times = X.times if isinstance(X, Series) else None
    return Recording(scores, found.cuts, name, times)


def _same_channels(recordings: Sequence[Any]) -> tuple[list[Matrix], Names]:
    """Return the usable rows of recordings, with their channels in the order of the first."""
    first, channels = to_matrix(recordings[0])
    matrices = [first]
    for X in recordings[1:]:
        values, names = to_matrix(X)
        count = first.shape[1]
        matrices.append(match_channels(values, names, expected=channels, count=count))
    usable = [~unusable_rows(X, len(m)) for X, m in zip(recordings, matrices, strict=True)]
    return [m[rows] for m, rows in zip(matrices, usable, strict=True)], channels


def unusable_rows(X: Any, rows: int) -> NDArray[np.bool_]:
    """Return which rows of ``X``, of so many, are not learned from."""
    known = X.unusable if isinstance(X, Series) else None
    return np.zeros(rows, dtype=bool) if known is None else known


def name_of(X: Any, number: int) -> str:
    """Return what messages call a recording: its name, or its number among several."""
    return X.name if isinstance(X, Series) and X.name != "series" else f"recording {number + 1}"
