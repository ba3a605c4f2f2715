"""KNN: distance of a row to its nearest training rows.

Ramaswamy, Rastogi and Shim, "Efficient algorithms for mining outliers from large data sets", SIGMOD
2000; the mean over the neighbours after Angiulli and Pizzuti, PKDD 2002. The settings, and the
scores on the training array, are those of TSB-AD. Where we differ: a long series is represented by
a sample, see :mod:`axonad.baselines._neighbours`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from axonad.baselines._neighbours import Indices, NeighbourDetector
from axonad.baselines._windowed import Values
from axonad.config import check_choice

METHODS = ("mean", "median", "largest")


@dataclass(kw_only=True, eq=False, repr=False)
class KNN(NeighbourDetector):
    """Distance to the nearest training windows.

    Parameters
    ----------
    method
        The ``"mean"``, ``"median"`` or ``"largest"`` distance among the neighbours.
    neighbours, max_train, seed, window, units, align
        See :mod:`axonad.baselines._neighbours`.
    """

    method: str = "mean"

    def _score_neighbours(self, distances: Values, indices: Indices) -> Values:
        if self.method == "largest":
            return distances[:, -1]
        if self.method == "median":
            return np.asarray(np.median(distances, axis=1))
        return np.asarray(distances.mean(axis=1))

    def _check_params(self) -> None:
        super()._check_params()
        check_choice("method", self.method, METHODS)
