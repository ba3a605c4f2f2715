"""The base of the detectors that compare a window with its nearest training windows: KNN and LOF.

A window is never its own neighbour. Scoring the array the detector was fitted on returns the
scores of the fit, where each window's own entry was left out (as in TSB-AD), and so does scoring
one of several recordings. In any other array a window that equals a training window has that one as
a neighbour.

A long series is represented by a sample of ``max_train`` windows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from axonad.baselines._windowed import Values, WindowedDetector, check_sampling, digest
from axonad.config import check_int
from axonad.data.frames import Matrix
from axonad.extras import need
from axonad.modelfile import Arrays, Shapes, check_counts

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
        self._require_windows(2)
        starts = self._sample_starts(self.max_train, self.seed)
        self._reference = self._gather(X, starts)
        self._build_index()
        self._digests = [digest(X[part]) for part in self.recordings_.parts]
        self._counts = self.recordings_.counts(self.window)
        self._learn_reference()
        everything, scores, first = self._training_starts(), [], 0
        for batch in self._training_batches(X):
            own = _find(everything[first : first + len(batch)], starts)
            scores.append(self._score_neighbours(*self._search(batch, own)))
            first += len(batch)
        self._own = np.concatenate(scores)
        return self._own

    def _score(self, X: Matrix) -> Values:
        count = len(X) - self.window + 1
        if count in self._counts and (found := digest(X)) in self._digests:
            number = self._digests.index(found)
            first = sum(self._counts[:number])
            return self._aligned(self._own[first : first + count])
        return super()._score(X)

    def _window_score(self, windows: Values) -> Values:
        return self._score_neighbours(*self._search(windows, np.full(len(windows), -1)))

    def _build_index(self) -> None:
        neighbors = need("sklearn.neighbors", what=f"{type(self).__name__} needs")
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
        own: dict[str, Any] = {"digest": ",".join(self._digests)}
        if len(self._counts) > 1:
            own["windows"] = self._counts
        return {**values, **own}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        super()._restore(values, arrays)
        self._digests = str(values["digest"]).split(",")
        self._counts = check_counts("windows", values.get("windows", [len(self._own)]))
        if len(self._counts) != len(self._digests) or sum(self._counts) != len(self._own):
            raise ValueError("its training scores do not fit its recordings")
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
