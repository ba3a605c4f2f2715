"""COPOD: how far out a row lies in the tails of its channels' distributions.

Li et al., "COPOD: copula-based outlier detection", ICDM 2020. It has no settings; the scores on the
training array are those of TSB-AD. Where we differ: tail probabilities come from the training rows
alone, so a row's score does not depend on the rows scored with it; a value beyond all training
values gets the tail probability 1/(n+1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from axonad.baselines._windowed import Values, WindowedDetector, check_sampling
from axonad.data.frames import Matrix
from axonad.modelfile import Shapes


@dataclass(kw_only=True, eq=False, repr=False)
class COPOD(WindowedDetector):
    """Sum over channels of −log tail probability, the tail chosen by the channel's skewness.

    Parameters
    ----------
    max_train
        Maximum number of windows to estimate tail probabilities from, drawn at random; None uses
        all.
    seed
        Seed of that draw.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    max_train: int | None = None
    seed: int = 0

    learned: ClassVar[Shapes] = {"_sorted": ("windows", "values"), "_skew": ("values",)}

    def _learn(self, X: Matrix) -> None:
        train = self._gather(X, self._sample_starts(self.max_train, self.seed))
        self._skew = skew_sign(train)
        train.sort(axis=0)
        self._sorted = train

    def _window_score(self, windows: Values) -> Values:
        total = np.zeros(len(windows))
        for i, values in enumerate(self._sorted.T):
            left = self._rarity(np.searchsorted(values, windows[:, i], side="right"))
            right = self._rarity(len(values) - np.searchsorted(values, windows[:, i], side="left"))
            tail = right if self._skew[i] > 0 else left if self._skew[i] < 0 else left + right
            total += np.maximum(tail, (left + right) / 2)
        return total

    def _rarity(self, count: Any) -> Values:
        """Return −log of ``count`` training windows as a share of all; 0 counts as 1/(n+1)."""
        rows = len(self._sorted)
        return -np.log(np.where(count > 0, count / rows, 1 / (rows + 1)))

    def _check_learned(self) -> None:
        if not len(self._sorted) or (self._sorted[1:] < self._sorted[:-1]).any():
            raise ValueError("its training values are not sorted")

    def _check_params(self) -> None:
        super()._check_params()
        check_sampling(self.max_train, self.seed)


def skew_sign(values: Values) -> Values:
    """Return the sign of each column's skewness; 0 where the column is constant."""
    mean = values.mean(axis=0)
    deviation = values - mean
    constant = np.square(deviation).mean(axis=0) <= np.square(np.finfo(np.float64).eps * mean)
    return np.where(constant, 0.0, np.sign((deviation**3).mean(axis=0)))
