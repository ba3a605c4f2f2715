"""Robust standardisation of the terms, and their sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

EPS = 1e-9


@dataclass(frozen=True)
class RobustScale:
    """Median and interquartile range of a term over training windows."""

    median: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def fit(cls, values: NDArray[np.floating]) -> Self:
        """Return the statistics over the first axis, computed by column to save memory."""
        columns = values.reshape(len(values), -1).T
        quartiles = [np.quantile(c.astype(np.float64), [0.25, 0.5, 0.75]) for c in columns]
        low, middle, high = np.array(quartiles).T.reshape(3, *values.shape[1:])
        return cls(np.asarray(middle), np.asarray(high - low))

    def apply(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return rz(u) = (u - median) / (IQR + ε)."""  # Eq. 5
        result: NDArray[np.float64] = (values - self.median) / (self.spread + EPS)
        return result


def combine(terms: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the score: the sum of the standardised terms."""  # Eq. 6
    total: NDArray[np.float64] = np.sum(list(terms.values()), axis=0)
    return total
