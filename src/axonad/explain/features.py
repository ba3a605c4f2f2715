"""What the channels are predicted from: their values now and a few rows before, and products.

Many relations are products: yaw rate is about steering times speed, force is about torque times
gear. Products of two channels in the same row, beside the values of rows 0, 1, 2, 4 and 8 before,
let a linear regression follow them. :mod:`axonad.explain.choosing` says which products are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

LAGS = (0, 1, 2, 4, 8)
MOST_VALUES = 500  # values of rows now and before
ROWS_PER_FEATURE = 5
FAR = 9.0  # products are clipped here, in scaled units


@dataclass(frozen=True)
class Features:
    """The features of rows of some channels; the first are the values of the row itself.

    Feature i belongs to the channels ``first[i]`` and ``second[i]``, which differ for products.
    """

    channels: int
    lags: tuple[int, ...] = LAGS
    pairs: tuple[tuple[int, int], ...] = ()

    @classmethod
    def plain(cls, channels: int, rows: int) -> Features:
        """Return features without products for so many channels and rows to learn from.

        Rows before are used with up to 100 channels, and five rows to learn from per feature.
        """
        made = cls(channels)
        if made.count <= MOST_VALUES and made.count * ROWS_PER_FEATURE <= rows:
            return made
        return cls(channels, (0,))

    @property
    def reach(self) -> int:
        """Rows before a row that its features need."""
        return max(self.lags)

    @property
    def count(self) -> int:
        """Number of features."""
        return self.channels * len(self.lags) + len(self.pairs)

    @cached_property
    def first(self) -> Indices:
        """The first channel of each feature."""
        return self._owners(0)

    @cached_property
    def second(self) -> Indices:
        """The second channel of each feature."""
        return self._owners(1)

    def of(self, scaled: Array) -> Array:
        """Return the features (rows - reach, count) of scaled rows that follow one another."""
        rows = len(scaled) - self.reach
        parts = [scaled[self.reach - lag : self.reach - lag + rows] for lag in self.lags]
        if self.pairs:
            one, other = np.array(self.pairs).T
            now = scaled[self.reach :]
            parts.append(multiply(now[:, one], now[:, other]))
        return np.concatenate(parts, axis=1)

    def touching(self, channels: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return whether each feature is computed from one of these channels."""
        return np.isin(self.first, channels) | np.isin(self.second, channels)

    def within(self, channels: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return whether each feature is computed from these channels only."""
        return np.isin(self.first, channels) & np.isin(self.second, channels)

    def _owners(self, which: int) -> Indices:
        own = np.tile(np.arange(self.channels), len(self.lags))
        return np.concatenate([own, np.array([pair[which] for pair in self.pairs], dtype=np.intp)])


def multiply(one: Array, other: Array) -> Array:
    """Return products of scaled values, clipped."""
    return np.asarray(np.clip(one * other, -FAR, FAR))
