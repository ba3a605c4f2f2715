"""What the channels are predicted from: their values now and a few rows before, and products.

Many relations are products: yaw rate is about steering times speed, force is about torque times
gear. Products of two channels in the same row, beside the values of rows 0, 1, 2, 4 and 8 before,
let a linear regression follow them. The richest of three sets of features is used for which there
is room (640 features) and there are enough rows (five for each feature):

- values now and before, and products: up to 30 channels;
- values now and before: up to 128 channels;
- values now.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LAGS = (0, 1, 2, 4, 8)
MOST_FEATURES = 640
ROWS_PER_FEATURE = 5
FAR = 9.0  # products are clipped here, in scaled units


@dataclass(frozen=True)
class Features:
    """The features of rows of some channels; the first are the values of the row itself.

    Feature i belongs to the channels ``first[i]`` and ``second[i]``, which differ for products.
    """

    channels: int
    lags: tuple[int, ...] = LAGS
    has_products: bool = True

    @classmethod
    def choose(cls, channels: int, rows: int) -> Features:
        """Return the richest features for so many channels and rows to learn from."""
        for lags, has_products in ((LAGS, True), (LAGS, False)):
            made = cls(channels, lags, has_products)
            if made.count <= MOST_FEATURES and made.count * ROWS_PER_FEATURE <= rows:
                return made
        return cls(channels, (0,), False)

    @property
    def reach(self) -> int:
        """Rows before a row that its features need."""
        return max(self.lags)

    @property
    def count(self) -> int:
        """Number of features."""
        return len(self.first)

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """The first channel of each feature."""
        return self._owners(0)

    @cached_property
    def second(self) -> NDArray[np.intp]:
        """The second channel of each feature."""
        return self._owners(1)

    def of(self, scaled: Array) -> Array:
        """Return the features (rows - reach, count) of scaled rows that follow one another."""
        rows = len(scaled) - self.reach
        parts = [scaled[self.reach - lag : self.reach - lag + rows] for lag in self.lags]
        if self.has_products:
            i, j = np.triu_indices(self.channels)
            now = scaled[self.reach :]
            parts.append(np.clip(now[:, i] * now[:, j], -FAR, FAR))
        return np.concatenate(parts, axis=1)

    def touching(self, channels: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return whether each feature is computed from one of these channels."""
        return np.isin(self.first, channels) | np.isin(self.second, channels)

    def within(self, channels: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return whether each feature is computed from these channels only."""
        return np.isin(self.first, channels) & np.isin(self.second, channels)

    def _owners(self, which: int) -> NDArray[np.intp]:
        own = np.tile(np.arange(self.channels), len(self.lags))
        if not self.has_products:
            return own
        return np.concatenate([own, np.triu_indices(self.channels)[which]])
