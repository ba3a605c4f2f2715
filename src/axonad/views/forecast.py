"""Forecast: deviation of each channel from a linear forecast of the next row.

Ridge regression (Hoerl and Kennard, Technometrics 1970) of a row on the rows before it, all
channels of them: a vector autoregression whose penalty is chosen per channel on held-out rows.
With more than 128 channels, each is predicted from those that tell most about it and from mixtures
of the others (:mod:`axonad.views.channel_groups`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from axonad.score.cholesky import solve_positive
from axonad.views.linear import Array, LinearView


@dataclass(kw_only=True, eq=False, repr=False)
class Forecast(LinearView):
    """Largest deviation of a channel from its forecast, in units of held-out deviations.

    Parameters
    ----------
    lags
        Rows before the current one that the forecast is made from.
    smooth
        Rows over which a channel's deviation is averaged; fewer react sooner, more find weak faults
        that last.
    align
        Which of those rows gets the score: ``"center"`` (best for recorded data) or ``"end"``.
    """

    lags: int = 16

    fewest_lags: ClassVar[int] = 1

    def _solve(self, moments: Array, penalty: float, targets: int) -> Array:
        inputs = len(moments) // (self.lags + 1)
        past = moments[inputs:, inputs:] + penalty * np.eye(inputs * self.lags)
        weights = solve_positive(past, moments[inputs:, :targets])
        return np.concatenate([np.eye(inputs, targets), -weights])
