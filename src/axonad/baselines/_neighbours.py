"""The base of the detectors that look for a window's nearest training windows: KNN and LOF.

A window is never its own neighbour. When a detector scores the very array it was fitted on, it
returns the scores of the fit, where each window's own place was left out (TSB-AD's way). Any other
array is new to it: a window that happens to equal a training window has that one as a neighbour.

A long series is represented by a sample of ``max_train`` windows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from axonad.baselines._sklearn import sklearn
from axonad.baselines._windowed import Values, WindowedDetector, digest
from axonad.config import check_int
from axonad.data.frames import Matrix
from axonad.modelfile import Arrays

Places = NDArray[np.int64]


@dataclass(kw_only=True, eq=False, repr=False)
class NeighbourDetector(WindowedDetector):
    """Base of KNN and LOF.

    Parameters
    ----------
    neighbours
        How many of the nearest training windows count.
    max_train
        Most training windows kept, drawn at random; None keeps all of them, and time then grows
        with the square of the series length.
    seed
        Of that draw.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    neighbours: int = 50
    max_train: int | None = 40_000
    seed: int = 0

    learned: ClassVar[tuple[str, ...]] = ("_reference", "_own")

    @abstractmethod
    def _judge(self, far: Values, places: Places) -> Values:
        """Return a score per window from the distances and places of its neighbours."""

    def _prepare(self) -> None:
        """Learn from the reference windows."""

    def _learn(self, X: Matrix) -> Values:
        self._require_windows(X, 2)
        starts = self._choose(X, self.max_train, self.seed)
        self._reference = self._take(X, starts)
        self._index()
        self._digest = digest(X)
        self._prepare()
        scores, first = [], 0
        for batch in self._batches(X):
            behind = first + len(batch)
            scores.append(self._judge(*self._search(batch, _position(starts, first, behind))))
            first = behind
        self._own = np.concatenate(scores)
        return self._own

    def _score(self, X: Matrix) -> Values:
        if len(X) == len(self._own) + self.window - 1 and digest(X) == self._digest:
            return self._placed(self._own)
        return super()._score(X)

    def _window_score(self, windows: Values) -> Values:
        return self._judge(*self._search(windows, np.full(len(windows), -1)))

    def _index(self) -> None:
        neighbors = sklearn("neighbors", user=type(self).__name__)
        self._finder = neighbors.NearestNeighbors().fit(self._reference)

    def _search(self, windows: Values, own: Places) -> tuple[Values, Places]:
        """Return distances and places of the nearest reference windows, never place ``own``.

        Where copies hide a window's own place among equals, one of those is left out instead.
        """
        count = min(self.neighbours, len(self._reference) - 1)
        far, places = self._finder.kneighbors(windows, n_neighbors=count + 1)
        drop = places == own[:, None]
        hidden = ~drop.any(axis=1)
        drop[hidden & (own >= 0), 0] = True
        drop[own < 0, -1] = True
        kept = ~drop
        return far[kept].reshape(-1, count), places[kept].reshape(-1, count)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        values, arrays = super()._state()
        return {**values, "digest": self._digest}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        super()._restore(values, arrays)
        self._digest = str(values["digest"])
        self._index()

    def _check_params(self) -> None:
        super()._check_params()
        check_int("neighbours", self.neighbours, low=1)
        if self.max_train is not None:
            check_int("max_train", self.max_train, low=2)
        check_int("seed", self.seed, low=0)


def _position(starts: Places, first: int, behind: int) -> Places:
    """Return where the windows ``first`` to ``behind`` are in the sorted ``starts``, else -1."""
    wanted = np.arange(first, behind)
    found = np.minimum(np.searchsorted(starts, wanted), len(starts) - 1)
    return np.where(starts[found] == wanted, found, -1)
