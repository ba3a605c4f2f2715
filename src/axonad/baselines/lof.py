"""LOF: density of the training rows around a row, compared with that around its neighbours.

Breunig, Kriegel, Ng and Sander, "LOF: identifying density-based local outliers", SIGMOD 2000. The
settings, and the scores on the training array, are those of TSB-AD. Where we differ: a long series
is represented by a sample, see :mod:`axonad.baselines._neighbours`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from axonad.baselines._neighbours import Indices, NeighbourDetector
from axonad.baselines._windowed import Values
from axonad.modelfile import Shapes

TINY = 1e-10  # added to a mean distance, so that duplicates have a finite density


@dataclass(kw_only=True, eq=False, repr=False)
class LOF(NeighbourDetector):
    """Mean density around the neighbours over the density around the window itself.

    Parameters
    ----------
    neighbours, max_train, seed, window, units, align
        See :mod:`axonad.baselines._neighbours`.
    """

    learned: ClassVar[Shapes] = {
        **NeighbourDetector.learned, "_reach": ("windows",), "_density": ("windows",),
    }  # fmt: skip

    def _learn_reference(self) -> None:
        distances, indices = self._search(self._reference, np.arange(len(self._reference)))
        self._reach = distances[:, -1]
        self._density = self._densities(distances, indices)

    def _score_neighbours(self, distances: Values, indices: Indices) -> Values:
        around: Values = self._density[indices].mean(axis=1)
        return around / self._densities(distances, indices)

    def _densities(self, distances: Values, indices: Indices) -> Values:
        return np.asarray(1 / (np.maximum(distances, self._reach[indices]).mean(axis=1) + TINY))
