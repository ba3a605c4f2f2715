"""CBLOF: distance of a row to the nearest large cluster.

He, Xu and Deng, "Discovering cluster-based local outliers", Pattern Recognition Letters 2003.
As in TSB-AD and PyOD, distances are not weighted by cluster size; the scores on the training array
are those of TSB-AD. Where we differ: if no clusters can be called small, all count as large (TSB-AD
raises an error), and a long series is clustered from a sample of ``max_train`` windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from axonad.baselines._kmeans import distances, find_centers
from axonad.baselines._windowed import Values, WindowedDetector, check_sampling
from axonad.config import check_float, check_int
from axonad.data.frames import Matrix
from axonad.modelfile import Shapes, check_indices


@dataclass(kw_only=True, eq=False, repr=False)
class CBLOF(WindowedDetector):
    """Distance to the centre of a window's cluster, or of the nearest large one if that is small.

    Parameters
    ----------
    clusters
        Number of clusters of k-means.
    alpha, beta
        The largest clusters count as large until they hold a share ``alpha`` of the rows; where
        possible, the cut is placed where cluster sizes drop by the factor ``beta``.
    max_train
        Maximum number of windows to fit k-means on, drawn at random; None uses all.
    seed
        Seed of k-means and of that draw.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    clusters: int = 4
    alpha: float = 0.6
    beta: float = 5.0
    max_train: int | None = 100_000
    seed: int = 0

    learned: ClassVar[Shapes] = {"_centers": ("clusters", "values"), "_large": (1,)}

    def _learn(self, X: Matrix) -> None:
        train = self._gather(X, self._sample_starts(self.max_train, self.seed))
        centers, sizes = find_centers(train, clusters=self.clusters, seed=self.seed, user="CBLOF")
        order = np.argsort(-sizes)
        self._centers = centers[order]
        self._large = np.array([count_large(sizes[order], alpha=self.alpha, beta=self.beta)])

    def _window_score(self, windows: Values) -> Values:
        to_centers = distances(windows, self._centers)
        large = int(self._large[0])
        own = to_centers.argmin(axis=1)
        to_large = to_centers[:, :large].min(axis=1)
        score: Values = np.where(own < large, to_centers[np.arange(len(to_centers)), own], to_large)
        return score

    def _check_learned(self) -> None:
        check_indices("large", self._large, low=1, count=len(self._centers) + 1)

    def _check_params(self) -> None:
        super()._check_params()
        check_int("clusters", self.clusters, low=2)
        check_float("alpha", self.alpha, above=0, below=1)
        check_float("beta", self.beta, above=1)
        check_sampling(self.max_train, self.seed, high=2**32 - 1)


def count_large(sizes: NDArray[np.int64], *, alpha: float, beta: float) -> int:
    """Return how many of the clusters, sorted by decreasing size, are large.

    >>> count_large(np.array([60, 30, 5, 5]), alpha=0.8, beta=5)
    2
    """
    enough = np.cumsum(sizes)[:-1] >= alpha * sizes.sum()
    drop = sizes[:-1] / sizes[1:] >= beta
    for cuts in (enough & drop, enough, drop):
        if cuts.any():
            return int(np.argmax(cuts)) + 1
    return len(sizes)
