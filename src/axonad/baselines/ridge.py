"""CrossChannelRidge: a channel that is not what the other channels say it should be.

Each channel is predicted from all others at the same time by ridge regression (Hoerl and Kennard,
Technometrics 1970), as regression adjustment does in process control (Hawkins, Technometrics 1991).
Where we differ: all regressions at once. With A the channels' correlation matrix and P the inverse
of A + penalty, the residual of channel j is (P z)_j / P_jj: what the separate ridges would leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_float
from axonad.data.frames import Matrix, Names
from axonad.data.scaling import fit_scaler
from axonad.detector import Detector, Parts
from axonad.modelfile import Arrays
from axonad.score.standardise import RobustScale

NORMAL = 1.349  # interquartile range of a normal distribution, in standard deviations
FLOOR = 0.1  # of a residual's standard deviation: its least unit
LEAST = 1e-6  # of a channel's own unit: the least unit of a residual that was never seen

Values = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class CrossChannelRidge(Detector):
    """Largest deviation of a channel from what the others predict, in training deviations.

    With one channel the prediction is its training mean.

    Parameters
    ----------
    penalty
        Of the regressions, in units of a channel's variance: larger trusts the others less.
    """

    penalty: float = 1e-3

    def _fit(self, X: Matrix, names: Names) -> Values:
        scaler = fit_scaler(X, "soft", names)  # its units; a line needs no compression
        self._center, self._unit = scaler.center, scaler.unit
        z = (X - self._center) / self._unit
        channels = X.shape[1]
        inverse = np.linalg.inv(z.T @ z / len(z) + self.penalty * np.eye(channels))
        self._map = inverse / np.diag(inverse)
        left = z @ self._map
        scale = RobustScale.fit(left)
        self._middle = scale.median
        self._spread = np.maximum(scale.spread / NORMAL, FLOOR * left.std(axis=0)) + LEAST
        scores: Values = self._judge(left).max(axis=1)
        return scores

    def _score(self, X: Matrix) -> Values:
        scores: Values = self._channels(X).max(axis=1)
        return scores

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        channels = self._channels(X)
        scores = channels.max(axis=1)
        return scores, {"score": scores}, channels if blame else None

    def _channels(self, X: Matrix) -> Values:
        return self._judge(((X - self._center) / self._unit) @ self._map)

    def _judge(self, left: Values) -> Values:
        result: Values = np.abs(left - self._middle) / self._spread
        return result

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        names = ("center", "unit", "map", "middle", "spread")
        return {}, {name: getattr(self, f"_{name}") for name in names}

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        self._center, self._unit, self._map = arrays["center"], arrays["unit"], arrays["map"]
        self._middle, self._spread = arrays["middle"], arrays["spread"]

    def _check_params(self) -> None:
        super()._check_params()
        check_float("penalty", self.penalty, above=0)
