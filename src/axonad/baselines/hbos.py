"""HBOS: how empty the histogram bins of a row's values are.

Goldstein and Dengel, "Histogram-based outlier score (HBOS)", KI 2012, with the settings of TSB-AD;
the scores on the training array are those of TSB-AD. Where we differ: histograms are counted batch
by batch, and ``window`` and ``units`` are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from axonad.baselines._windowed import Values, WindowedDetector
from axonad.config import check_float, check_int
from axonad.data.frames import Matrix
from axonad.modelfile import Shapes


@dataclass(kw_only=True, eq=False, repr=False)
class HBOS(WindowedDetector):
    """Sum over channels of −log₂(histogram density + ``alpha``).

    Parameters
    ----------
    bins
        Number of bins of equal width per channel.
    alpha
        Added to each density, so that an empty bin has a finite score.
    tolerance
        How far beyond the outermost bin, as a share of its width, a value still counts as inside;
        farther out it counts as in the emptiest bin.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    bins: int = 30
    alpha: float = 0.1
    tolerance: float = 0.5

    learned: ClassVar[Shapes] = {"_edges": ("edges", "values"), "_strangeness": ("bins", "values")}

    def _learn(self, X: Matrix) -> None:
        low = np.min([batch.min(axis=0) for batch in self._training_batches(X)], axis=0)
        high = np.max([batch.max(axis=0) for batch in self._training_batches(X)], axis=0)
        # As in numpy's histogram, a constant column gets a range of 1; so does one that only
        # varies by rounding, whose bins would have no width.
        flat = (np.diff(np.linspace(low, high, self.bins + 1, axis=0), axis=0) <= 0).any(axis=0)
        low, high = np.where(flat, low - 0.5, low), np.where(flat, high + 0.5, high)
        self._edges = np.linspace(low, high, self.bins + 1, axis=0)
        counts = np.zeros((self.bins, len(low)))
        for batch in self._training_batches(X):
            for i, edges in enumerate(self._edges.T):
                counts[:, i] += np.histogram(batch[:, i], bins=edges)[0]
        density = counts / counts.sum(axis=0) / np.diff(self._edges, axis=0)
        self._strangeness = -np.log2(density + self.alpha)

    def _window_score(self, windows: Values) -> Values:
        total = np.zeros(len(windows))
        for i, edges in enumerate(self._edges.T):
            column, strangeness = windows[:, i], self._strangeness[:, i]
            bin_of = np.searchsorted(edges, column, side="left") - 1  # bins include the right edge
            score = strangeness[np.clip(bin_of, 0, self.bins - 1)]
            reach = self.tolerance * (edges[1] - edges[0])
            outside = (column < edges[0] - reach) | (column > edges[-1] + reach)
            total += np.where(outside, strangeness.max(), score)
        return total

    def _check_learned(self) -> None:
        if (len(self._edges), len(self._strangeness)) != (self.bins + 1, self.bins):
            raise ValueError(f"its histograms do not have {self.bins} bins")

    def _check_params(self) -> None:
        super()._check_params()
        check_int("bins", self.bins, low=2)
        check_float("alpha", self.alpha, above=0, below=1)
        check_float("tolerance", self.tolerance, low=0, high=1)
