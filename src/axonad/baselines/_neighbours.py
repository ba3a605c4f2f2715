"""The base of the detectors that compare a window with its nearest training windows: KNN and LOF.

A window is never its own neighbour. Scoring the array the detector was fitted on returns the
scores of the fit, where each window's own entry was left out (as in TSB-AD). In any other array a
window that equals a training window has that one as a neighbour.

A long series is represented by a sample of ``max_train`` windows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from axonad.baselines._sklearn import import_sklearn
from axonad.baselines._windowed import Values, WindowedDetector, check_sampling, digest
from axonad.config import check_int
from axonad.data.frames import Matrix
from axonad.modelfile import Arrays, Shapes

Indices = NDArray[np.int64]


@dataclass(kw_only=True, eq=False, repr=False)
class NeighbourDetector(WindowedDetector):
    """Base of KNN and LOF.

    Parameters
    ----------
    neighbours
        Number of nearest training windows.
    max_train
        Maximum number of training windows to keep, drawn at random. None keeps all; time then grows
        with the square of the series length.
    seed
        Seed of that draw.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    neighbours: int = 50
    max_train: int | None = 40_000
    seed: int = 0

    learned: ClassVar[Shapes] = {
        "_reference": ("windows", "values"), "_own": ("training",),
    }  # fmt: skip

    @abstractmethod
    def _score_neighbours(self, distances: Values, indices: Indices) -> Values:
        """Return a score per window from the distances and indices of its neighbours."""

    def _learn_reference(self) -> None:
        """Learn from the reference windows; by default nothing."""

    def _learn(self, X: Matrix) -> Values:
        self._require_windows(X, 2)
        starts = self._sample_starts(X, self.max_train, self.seed)
        self._reference = self._gather(X, starts)
        self._build_index()
        self._digest = digest(X)
        self._learn_reference()
        scores, first = [], 0
        for batch in self._batches(X):
            own = _find(np.arange(first, first + len(batch)), starts)
            scores.append(self._score_neighbours(*self._search(batch, own)))
            first += len(batch)
        self._own = np.concatenate(scores)
        return self._own

    def _score(self, X: Matrix) -> Values:
        if len(X) == len(self._own) + self.window - 1 and digest(X) == self._digest:
            return self._aligned(self._own)
        return super()._score(X)

    def _window_score(self, windows: Values) -> Values:
        return self._score_neighbours(*self._search(windows, np.full(len(windows), -1)))

    def _build_index(self) -> None:
        neighbors = import_sklearn("neighbors", user=type(self).__name__)
        self._index = neighbors.NearestNeighbors().fit(self._reference)

    def _search(self, windows: Values, own: Indices) -> tuple[Values, Indices]:
        """Return distances and indices of the nearest reference windows, without index ``own``.

        Where duplicates hide a window's own index, one of the duplicates is left out instead. -1
        stands for a window that is not among the reference windows.
        """
        count = min(self.neighbours, len(self._reference) - 1)
        distances, indices = self._index.kneighbors(windows, n_neighbors=count + 1)
        drop = indices == own[:, None]
        hidden = ~drop.any(axis=1)
        drop[hidden & (own >= 0), 0] = True
        drop[own < 0, -1] = True
        kept = ~drop
        return distances[kept].reshape(-1, count), indices[kept].reshape(-1, count)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        values, arrays = super()._state()
        return {**values, "digest": self._digest}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        super()._restore(values, arrays)
        self._digest = str(values["digest"])
        self._build_index()

    def _check_learned(self) -> None:
        if len(self._reference) < 2:
            raise ValueError("it has fewer than two training windows")

    def _check_params(self) -> None:
        super()._check_params()
        check_int("neighbours", self.neighbours, low=1)
        check_sampling(self.max_train, self.seed)


def _find(windows: Indices, starts: Indices) -> Indices:
    """Return the index of each window in the sorted ``starts``, or -1 where it is not there."""
    found = np.minimum(np.searchsorted(starts, windows), len(starts) - 1)
    return np.where(starts[found] == windows, found, -1)
