"""Level: values in units of what held-out training data gave, compressed.

Parts of a score come in units of their own: distances, errors, deviations. Each is brought to one
scale by the median and the 99 % quantile it had on normal rows that were not learned from: 0 at or
below the median, log 2 at the quantile, and twice as far above adds less than twice as much, so
that one part that explodes does not silence the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

HIGH = 0.99  # quantile of held-out values that is one unit above their median
TINY = 1e-9  # smallest unit

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """Median and unit of held-out values."""

    median: float
    unit: float

    @classmethod
    def fit(cls, values: NDArray[np.floating]) -> Self:
        """Return the level of held-out values.

        >>> Level.fit(np.arange(101.0))
        Level(median=50.0, unit=49.0)
        """
        median, high = np.quantile(np.asarray(values, dtype=np.float64), [0.5, HIGH])
        return cls(float(median), float(max(high - median, TINY)))

    def apply(self, values: NDArray[np.floating]) -> Values:
        """Return log(1 + positive part of (value - median) / unit)."""
        return np.asarray(np.log1p(np.maximum((values - self.median) / self.unit, 0)))
