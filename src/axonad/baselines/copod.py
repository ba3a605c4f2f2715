"""COPOD: how far out in its channels' tails a row lies.

Li et al., "COPOD: copula-based outlier detection", ICDM 2020. It has no settings; TSB-AD's values
on the array it was fitted on. Where we differ: tails come from the training rows alone, so a
row's score does not depend on the rows scored with it; a value beyond every training value counts
as rarer than the rarest, 1/(n+1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from axonad.baselines._windowed import Values, WindowedDetector
from axonad.config import check_int
from axonad.data.frames import Matrix


@dataclass(kw_only=True, eq=False, repr=False)
class COPOD(WindowedDetector):
    """Sum over channels of −log tail probability, the tail chosen by the channel's skewness.

    Parameters
    ----------
    max_train
        Most windows the tails are counted from, drawn at random; None keeps all of them.
    seed
        Of that draw.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    max_train: int | None = None
    seed: int = 0

    learned: ClassVar[tuple[str, ...]] = ("_sorted", "_skew")

    def _learn(self, X: Matrix) -> None:
        train = self._take(X, self._choose(X, self.max_train, self.seed))
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
        """Return −log of a share of the training windows; none counts as less than one."""
        rows = len(self._sorted)
        result: Values = -np.log(np.where(count > 0, count / rows, 1 / (rows + 1)))
        return result

    def _check_params(self) -> None:
        super()._check_params()
        if self.max_train is not None:
            check_int("max_train", self.max_train, low=2)
        check_int("seed", self.seed, low=0)


def skew_sign(values: Values) -> Values:
    """Return 1, −1 or 0 per column: which way its distribution leans; 0 where it is constant."""
    mean = values.mean(axis=0)
    deviation = values - mean
    constant = np.square(deviation).mean(axis=0) <= np.square(np.finfo(np.float64).eps * mean)
    result: Values = np.where(constant, 0.0, np.sign((deviation**3).mean(axis=0)))
    return result
