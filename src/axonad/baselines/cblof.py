"""CBLOF: how far a row is from the nearest large cluster.

He, Xu and Deng, "Discovering cluster-based local outliers", Pattern Recognition Letters 2003,
without weights by cluster size, as in TSB-AD and PyOD, whose values it gives on the array it was
fitted on. Where we differ: where clusters cannot be told into large and small ones, all count as
large (TSB-AD stops), and a long series is clustered by a sample of ``max_train`` windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from axonad.baselines._clusters import distances, find_centers
from axonad.baselines._windowed import Values, WindowedDetector
from axonad.config import check_float, check_int
from axonad.data.frames import Matrix


@dataclass(kw_only=True, eq=False, repr=False)
class CBLOF(WindowedDetector):
    """Distance to the own cluster's centre if that is large, else to the nearest large one.

    Parameters
    ----------
    clusters
        Of k-means.
    alpha, beta
        Large are the biggest clusters that together hold a share ``alpha`` of the rows, where
        possible up to a place where sizes drop by the factor ``beta``.
    max_train
        Most windows k-means sees, drawn at random; None shows it all of them.
    seed
        Of k-means and of that draw.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    clusters: int = 4
    alpha: float = 0.6
    beta: float = 5.0
    max_train: int | None = 100_000
    seed: int = 0

    learned: ClassVar[tuple[str, ...]] = ("_centers", "_large")

    def _learn(self, X: Matrix) -> None:
        train = self._take(X, self._choose(X, self.max_train, self.seed))
        centers, sizes = find_centers(
            train, clusters=self.clusters, seed=self.seed, user=type(self).__name__
        )
        order = np.argsort(-sizes)
        self._centers = centers[order]
        self._large = np.array([count_large(sizes[order], alpha=self.alpha, beta=self.beta)])

    def _window_score(self, windows: Values) -> Values:
        far = distances(windows, self._centers)
        large = int(self._large[0])
        own = far.argmin(axis=1)
        to_large = far[:, :large].min(axis=1)
        score: Values = np.where(own < large, far[np.arange(len(far)), own], to_large)
        return score

    def _check_params(self) -> None:
        super()._check_params()
        check_int("clusters", self.clusters, low=2)
        check_float("alpha", self.alpha, above=0, below=1)
        check_float("beta", self.beta, above=1)
        if self.max_train is not None:
            check_int("max_train", self.max_train, low=2)
        check_int("seed", self.seed, low=0, high=2**32 - 1)


def count_large(sizes: NDArray[np.int64], *, alpha: float, beta: float) -> int:
    """Return how many of the clusters, largest first, are large.

    >>> count_large(np.array([60, 30, 5, 5]), alpha=0.8, beta=5)
    2
    """
    enough = np.cumsum(sizes)[:-1] >= alpha * sizes.sum()
    drop = sizes[:-1] / sizes[1:] >= beta
    for cuts in (enough & drop, enough, drop):
        if cuts.any():
            return int(np.argmax(cuts)) + 1
    return len(sizes)
