"""WindowStatistics: distance of a window's statistics to those of the nearest training window.

Mean, deviation, maximum, minimum and range of each channel over windows of several lengths, and
the distance to the nearest training window, standardised per length: the statistical half of
CHARM's multi-scale nearest neighbours. Where we differ: training windows are scored against
windows from other parts of the series, and each length keeps ``max_train`` evenly spaced windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.baselines._windowed import Values
from axonad.config import check_choice, check_int, check_ints
from axonad.data.frames import Matrix, Names
from axonad.data.recordings import Recordings
from axonad.data.scaling import fit_scaler
from axonad.data.windows import ALIGNMENTS, count_windows, spread
from axonad.detector import Detector
from axonad.extras import need
from axonad.modelfile import Arrays, check_number, take
from axonad.score.restoring import restore_scaler

FOLDS = 5  # parts of the training series, each scored against the others
BLOCK = 8_192  # windows compared at a time
STATISTICS = 5  # per channel: mean, deviation, maximum, minimum and range
TINY = 1e-3  # added to the standard deviation of distances, which may be zero


@dataclass(kw_only=True, eq=False, repr=False)
class WindowStatistics(Detector):
    """Nearest-neighbour distance of window statistics, the largest over several lengths.

    Parameters
    ----------
    lengths
        Window lengths. Adding 16 and 32 made it worse on the tuning series of TSB-AD.
    max_train
        Maximum number of training windows to keep per length, evenly spaced.
    align
        ``"center"`` of a window (best for recorded data) or its ``"end"`` (as in a live system).
    """

    lengths: tuple[int, ...] = (64, 128, 256)
    max_train: int = 5_000
    align: str = "center"

    changeable = frozenset({"align"})
    divides = True

    @property
    def history(self) -> int:
        """Rows a score needs: the longest window."""
        return max(self.lengths)

    def _fit(self, X: Matrix, names: Names) -> Values:
        self._scaler = fit_scaler(X, "soft", names)
        self._references: list[Values] = []
        self._levels: list[tuple[float, float]] = []
        scores = []
        for i, length in enumerate(self.lengths):
            statistics = self.recordings_.each(partial(self._statistics, length=length), X)
            count = len(statistics)
            kept = np.unique(np.linspace(0, count - 1, min(count, self.max_train)).astype(int))
            self._references.append(statistics[kept])
            distances = _far_from_others(statistics, kept, length, self.recordings_)
            self._levels.append((float(distances.mean()), float(distances.std()) + TINY))
            scores.append(self._standardised(distances, i))
        return self._combined(scores, self.recordings_)

    def _score(self, X: Matrix) -> Values:
        return self._combined([self._length_scores(X, i) for i in range(len(self.lengths))])

    def _score_ends(self, X: Matrix) -> tuple[Values, dict[str, Values]]:
        first = [self.history - length for length in self.lengths]
        scores = [self._length_scores(X[row:], i) for i, row in enumerate(first)]
        return np.max(scores, axis=0), {}

    def _length_scores(self, X: Matrix, i: int) -> Values:
        """Return the standardised distance of each window of the i-th length."""
        statistics = self._statistics(X, self.lengths[i])
        return self._standardised(nearest(statistics, self._references[i]), i)

    def _standardised(self, distances: Values, i: int) -> Values:
        mean, unit = self._levels[i]
        return (distances - mean) / unit

    def _combined(self, scores: list[Values], recordings: Recordings | None = None) -> Values:
        """Return the largest value over the lengths for each row; by default of one series."""
        if recordings is None:
            recordings = Recordings.one(len(scores[0]) + self.lengths[0] - 1)
        aligned = [
            recordings.place(partial(spread, window=length, align=self.align), values, length)
            for values, length in zip(scores, self.lengths, strict=True)
        ]
        return np.asarray(np.max(aligned, axis=0))

    def _statistics(self, X: Matrix, length: int) -> Values:
        return window_statistics(self._scaler.apply(X).astype(np.float64), length)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {f"reference.{i}": kept for i, kept in enumerate(self._references)}
        arrays |= {"center": self._scaler.center, "unit": self._scaler.unit}
        return {"levels": [list(level) for level in self._levels]}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        channels = self.n_features_in_
        self._scaler = restore_scaler("soft", arrays, "center", "unit", channels=channels)
        self._levels = [
            (check_number("a mean distance", mean), check_number("its unit", unit, above=0))
            for mean, unit in values["levels"]
        ]
        if len(self._levels) != len(self.lengths):
            raise ValueError(f"it has {len(self._levels)} levels for {len(self.lengths)} lengths")
        self._references = [
            take(arrays, f"reference.{i}", None, STATISTICS * channels)
            for i in range(len(self.lengths))
        ]
        if not all(len(kept) for kept in self._references):
            raise ValueError("it has no training windows")

    def _check_params(self) -> None:
        super()._check_params()
        check_ints("lengths", self.lengths)
        for length in self.lengths:
            check_int("lengths", length, low=2)
        check_int("max_train", self.max_train, low=2)
        check_choice("align", self.align, ALIGNMENTS)


def window_statistics(X: Values, length: int) -> Values:
    """Return mean, deviation, maximum, minimum and range of each channel in each window."""
    count = count_windows(len(X), length)
    high, low = _running(np.maximum, X, length), _running(np.minimum, X, length)
    zero = np.zeros((1, X.shape[1]))
    total = np.concatenate([zero, np.cumsum(X, axis=0)])
    squares = np.concatenate([zero, np.cumsum(X**2, axis=0)])
    mean = (total[length:] - total[:count]) / length
    variance = (squares[length:] - squares[:count]) / length - mean**2
    deviation = np.sqrt(np.maximum(variance, 0))
    return np.concatenate([mean, deviation, high, low, high - low], axis=1)


def nearest(windows: Values, reference: Values) -> Values:
    """Return each window's distance to the nearest reference window."""
    neighbors = need("sklearn.neighbors", what="WindowStatistics needs")
    finder = neighbors.NearestNeighbors(n_neighbors=1).fit(reference)
    blocks = (finder.kneighbors(windows[i : i + BLOCK])[0] for i in range(0, len(windows), BLOCK))
    return np.concatenate(list(blocks))[:, 0]


def _far_from_others(
    statistics: Values, kept: NDArray[np.int64], length: int, recordings: Recordings
) -> Values:
    """Return each training window's distance to the kept windows of other parts of the series."""
    distances = np.empty(len(statistics))
    rows = recordings.starts(length)
    for start, stop in recordings.folds(length, FOLDS):
        if stop == start:
            continue
        begins, ends = rows[start], rows[stop - 1] + 1
        apart = (rows[kept] <= begins - length) | (rows[kept] >= ends + length)
        if not apart.any():  # a short series: at least not the same part
            apart = (kept < start) | (kept >= stop)
        others = kept[apart] if apart.any() else kept
        distances[start:stop] = nearest(statistics[start:stop], statistics[others])
    return distances


def _running(pick: np.ufunc, X: Values, length: int) -> Values:
    """Return the maximum or minimum of each window, by doubling the window length."""
    width, result = 1, X
    while 2 * width <= length:
        result = pick(result[:-width], result[width:])
        width *= 2
    rest = length - width
    return np.asarray(pick(result[: len(result) - rest], result[rest:]))
