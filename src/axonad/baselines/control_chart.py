"""ControlChart: distance of smoothed rows from the training mean, in units of the covariance.

Lowry, Woodall, Champ and Rigdon, "A multivariate exponentially weighted moving average control
chart", Technometrics 1992: Hotelling's T² of an EWMA. Where we differ: the average is cut off after
``history`` rows, where its weights fall below a thousandth, so that a score depends on a fixed
number of rows; the covariance is that of the smoothed training rows, which accounts for their
autocorrelation, plus a small ridge on its diagonal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from axonad.baselines._windowed import Values
from axonad.config import check_float
from axonad.data.frames import Matrix, Names
from axonad.data.scaling import fit_scaler
from axonad.data.windows import spread
from axonad.detector import Detector
from axonad.modelfile import Arrays, take
from axonad.score.blame import withhold
from axonad.score.restoring import restore_scaler
from axonad.stretches import Parts

CUTOFF = 1e-3  # rows with a smaller weight, relative to the newest row, are left out
BLOCK = 8_192  # rows smoothed at a time


@dataclass(kw_only=True, eq=False, repr=False)
class ControlChart(Detector):
    """Hotelling's T² of an exponentially weighted moving average of rows.

    Parameters
    ----------
    memory
        Weight of the past: 0 scores each row alone; near 1 averages over many rows and detects
        small shifts.
    ridge
        Added to the covariance's diagonal, as a share of the smoothed channels' mean variance.
    """

    memory: float = 0.8
    ridge: float = 1e-3

    divides: ClassVar[bool] = True
    can_score_without: ClassVar[bool] = True

    @property
    def history(self) -> int:
        """Rows in the moving average."""
        if self.memory == 0:
            return 1
        return max(1, int(np.ceil(np.log(CUTOFF) / np.log(self.memory))))

    def _fit(self, X: Matrix, names: Names) -> None:
        self._scaler = fit_scaler(X, "soft", names)
        smooth = self.recordings_.each(self._smooth, X)
        self._mean = smooth.mean(axis=0)
        centered = smooth - self._mean
        covariance = centered.T @ centered / len(smooth)
        floor = max(self.ridge * float(np.trace(covariance)) / len(covariance), 1e-12)
        self._precision = np.linalg.inv(covariance + floor * np.eye(len(covariance)))
        self._unit = np.sqrt(np.diag(covariance) + floor)

    def _score(self, X: Matrix) -> Values:
        return spread(self._score_ends(X)[0], window=self.history, align="end")

    def _score_ends(self, X: Matrix) -> tuple[Values, dict[str, Values]]:
        deviation = self._smooth(X) - self._mean
        return np.einsum("ij,ij->i", deviation @ self._precision, deviation), {}

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        scores = self._score(X)
        if not blame:
            return scores, {"score": scores}, None
        channels = withhold(np.abs(self._smooth(X) - self._mean) / self._unit, X, self._scaler)
        return scores, {"score": scores}, spread(channels, window=self.history, align="end")

    def _smooth(self, X: Matrix) -> Values:
        """Return the moving average ending at each row with a full history."""
        weights = self.memory ** np.arange(self.history)[::-1]
        weights /= weights.sum()
        rows = self._scaler.apply(X).astype(np.float64)
        view = sliding_window_view(rows, self.history, axis=0)
        blocks = (view[i : i + BLOCK] @ weights for i in range(0, len(view), BLOCK))
        return np.concatenate(list(blocks))

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {"center": self._scaler.center, "scale": self._scaler.unit}
        return {}, arrays | {"mean": self._mean, "precision": self._precision, "unit": self._unit}

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        channels = self.n_features_in_
        self._scaler = restore_scaler("soft", arrays, "center", "scale", channels=channels)
        self._mean = take(arrays, "mean", channels)
        self._precision = take(arrays, "precision", channels, channels)
        self._unit = take(arrays, "unit", channels, above=0)

    def _check_params(self) -> None:
        super()._check_params()
        check_float("memory", self.memory, low=0, high=0.999)
        check_float("ridge", self.ridge, above=0)
