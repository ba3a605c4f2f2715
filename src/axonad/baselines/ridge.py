"""CrossChannelRidge: deviation of a channel from what the other channels predict.

Each channel is predicted from all others at the same time by ridge regression (Hoerl and Kennard,
Technometrics 1970), as in regression adjustment in process control (Hawkins, Technometrics 1991).
Where we differ: all regressions are solved at once; see :mod:`axonad.score.residual_map`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from axonad.baselines._windowed import Values
from axonad.config import check_choice, check_float, check_int
from axonad.data.frames import Matrix, Names
from axonad.data.scaling import Scaler, fit_scaler
from axonad.data.windows import ALIGNMENTS, spread
from axonad.detector import Detector
from axonad.modelfile import Arrays, take
from axonad.score.blame import withhold
from axonad.score.residual_map import residual_map
from axonad.score.standardise import RobustScale
from axonad.stretches import Parts

NORMAL_IQR = 1.349  # interquartile range of a normal distribution, in standard deviations
FLOOR = 0.1  # a residual's unit is at least this share of its standard deviation
BLOCK = 8_192  # rows averaged at a time
TINY = 1e-6  # added to a residual's unit, in units of the channel: it may be zero in training
STILL = 0.3  # smallest unit of a still channel's residual: three times a trifle, see data.scaling


@dataclass(kw_only=True, eq=False, repr=False)
class CrossChannelRidge(Detector):
    """Largest deviation of a channel from its prediction, in units of its training residuals.

    With one channel the prediction is its training mean.

    Parameters
    ----------
    penalty
        Ridge penalty, in units of a channel's variance: larger relies less on the other channels.
    smooth
        Rows over which a channel's squared deviation is averaged before the maximum over channels
        is taken; makes lasting deviations stand out from noise.
    align
        Which of those rows gets the score: ``"center"`` (best for recorded data) or ``"end"``.
    """

    penalty: float = 1e-3
    smooth: int = 1
    align: str = "center"

    changeable = frozenset({"align"})
    conditions = True
    divides = True
    can_score_without = True

    @property
    def history(self) -> int:
        """Rows a score needs."""
        return self.smooth

    def _fit(self, X: Matrix, names: Names) -> Values:
        self._scaler = fit_scaler(X, "soft", names)  # for its units; values are not compressed
        z = (X - self._scaler.center) / self._scaler.unit
        self._map = residual_map(z.T @ z / len(z), penalty=self.penalty)
        self._map[:, self.context_columns] = 0.0  # context is an input, never a target
        residuals = z @ self._map
        scale = RobustScale.fit(residuals)
        self._middle = scale.median
        floor = np.maximum(FLOOR * residuals.std(axis=0), STILL * self._scaler.still)
        self._spread = np.maximum(scale.spread / NORMAL_IQR, floor) + TINY
        return self.recordings_.each(
            lambda rows: self._aligned(self._deviations(rows).max(axis=1)), residuals
        )

    def _score(self, X: Matrix) -> Values:
        return self._aligned(self._score_ends(X)[0])

    def _score_ends(self, X: Matrix) -> tuple[Values, dict[str, Values]]:
        return self._channels(X).max(axis=1), {}

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        channels = self._channels(X)
        scores = self._aligned(channels.max(axis=1))
        if not blame:
            return scores, {"score": scores}, None
        return scores, {"score": scores}, self._aligned(withhold(channels, X, self._scaler))

    def _aligned(self, values: Values) -> Values:
        return spread(values, window=self.smooth, align=self.align)

    def _channels(self, X: Matrix) -> Values:
        return self._deviations(((X - self._scaler.center) / self._scaler.unit) @ self._map)

    def _deviations(self, residuals: Values) -> Values:
        """Return each channel's deviation, as a root mean square over the last ``smooth`` rows."""
        deviations: Values = np.abs(residuals - self._middle) / self._spread
        if self.smooth == 1:
            return deviations
        view = sliding_window_view(deviations**2, self.smooth, axis=0)
        mean = [view[i : i + BLOCK].mean(axis=-1) for i in range(0, len(view), BLOCK)]
        return np.asarray(np.sqrt(np.concatenate(mean)))

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {"center": self._scaler.center, "unit": self._scaler.unit}
        return {}, arrays | {"map": self._map, "middle": self._middle, "spread": self._spread}

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        channels = self.n_features_in_
        center = take(arrays, "center", channels)
        self._scaler = Scaler("soft", center, take(arrays, "unit", channels, above=0))
        self._map = take(arrays, "map", channels, channels)
        self._middle = take(arrays, "middle", channels)
        self._spread = take(arrays, "spread", channels, above=0)

    def _check_params(self) -> None:
        super()._check_params()
        check_float("penalty", self.penalty, above=0)
        check_int("smooth", self.smooth, low=1)
        check_choice("align", self.align, ALIGNMENTS)
