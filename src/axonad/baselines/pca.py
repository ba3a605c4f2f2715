"""PCA: distance of a row or a window from the leading principal directions.

Shyu et al., "A novel anomaly detection scheme based on principal component classifier", ICDM
Foundations Workshop 2003, in the form of PyOD and TSB-AD, whose scores it gives on the training
array: the distance from the standardised row to each direction's unit vector, over the direction's
share of the variance. The paper's runs scale each window by its own mean and deviation first
(parity), those of TSB-AD's leaderboard of 2024 do not. Where we differ: covariances are summed
batch by batch, so no array of all windows exists, and channels that were constant in training are
ignored when they move later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from axonad.baselines._windowed import Values, WindowedDetector
from axonad.config import check_float, check_int
from axonad.data.frames import Matrix
from axonad.modelfile import Shapes, check_indices

ROUNDING = 1e-10  # directions with a smaller share of the variance are rounding errors


@dataclass(kw_only=True, eq=False, repr=False)
class PCA(WindowedDetector):
    """Sum over directions of the distance to the direction's unit vector, over its variance share.

    Parameters
    ----------
    directions
        Number of leading directions, or the share of the variance they explain together, or None
        for all.
    window, units, align
        See :mod:`axonad.baselines._windowed`; with any ``units``, every value of a window is also
        standardised by training statistics. Memory grows with (window x channels)². The paper's
        runs use windows of 100 rows in their own units (parity), TSB-AD's leaderboard of 2024
        single rows.
    """

    directions: int | float | None = 0.25
    units: str = "raw"

    parity: ClassVar[Mapping[str, Any]] = {"window": 100, "units": "own"}
    leaderboard: ClassVar[Mapping[str, Any]] = {"window": 1, "units": "raw"}
    can_score_without: ClassVar[bool] = True
    learned: ClassVar[Shapes] = {
        "_mean": ("values",), "_deviation": ("kept",), "_kept": ("kept",),
        "_axes": ("directions", "kept"), "_share": ("directions",),
    }  # fmt: skip

    def _learn(self, X: Matrix) -> None:
        self._require_windows(2)
        count = self.recordings_.count(self.window)
        found = [(b.sum(axis=0), b.min(axis=0), b.max(axis=0)) for b in self._training_batches(X)]
        totals, lows, highs = (np.array(part) for part in zip(*found, strict=True))
        self._mean: Values = totals.sum(axis=0) / count
        low, high = lows.min(axis=0), highs.max(axis=0)
        squares = sum(
            np.square(batch - self._mean).sum(axis=0) for batch in self._training_batches(X)
        )
        self._kept = np.flatnonzero(low < high)
        self._deviation = np.sqrt(np.asarray(squares) / count)[self._kept]
        variances, axes = self._directions(X, count)
        share = variances / max(variances.sum(), np.finfo(np.float64).tiny)
        number = self._number(share)
        self._axes, self._share = flip_signs(axes[:number]), share[:number]

    def _directions(self, X: Matrix, count: int) -> tuple[Values, Values]:
        """Return the variances along the principal directions, largest first, and their axes."""
        size = len(self._kept)
        if count <= size:  # all windows take less memory than the covariance matrix
            _, lengths, axes = np.linalg.svd(
                np.concatenate([self._standardised(batch) for batch in self._training_batches(X)]),
                full_matrices=False,
            )
            return lengths**2, axes
        products = np.zeros((size, size))
        for batch in self._training_batches(X):
            z = self._standardised(batch)
            products += z.T @ z
        variances, columns = np.linalg.eigh(products)
        return np.maximum(variances[::-1], 0), columns.T[::-1]

    def _number(self, share: Values) -> int:
        """Return how many directions to keep, leaving out those that are rounding errors."""
        useful = int((share > ROUNDING).sum())
        if self.directions is None:
            return useful
        if isinstance(self.directions, int | np.integer):
            return min(int(self.directions), useful)
        return min(
            int(np.searchsorted(np.cumsum(share), self.directions, side="right")) + 1, useful
        )

    def _standardised(self, windows: Values) -> Values:
        return (windows[:, self._kept] - self._mean[self._kept]) / self._deviation

    def _window_score(self, windows: Values) -> Values:
        z = self._standardised(windows)
        length = np.square(z).sum(axis=1, keepdims=True)
        distance = np.sqrt(np.maximum(length - 2 * z @ self._axes.T + 1, 0))
        return np.asarray((distance / self._share).sum(axis=1))

    def _check_learned(self) -> None:
        check_indices("kept", self._kept, low=0, count=len(self._mean))
        if (self._deviation <= 0).any() or (self._share <= 0).any():
            raise ValueError("a deviation or a share of the variance is not above 0")

    def _check_params(self) -> None:
        super()._check_params()
        if isinstance(self.directions, int | np.integer):
            check_int("directions", self.directions, low=1)
        elif self.directions is not None:
            check_float("directions", self.directions, above=0, below=1)


def flip_signs(axes: Values) -> Values:
    """Return directions (rows) with signs such that the largest entry of each is positive."""
    if not axes.size:
        return axes
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return axes * np.sign(largest)
