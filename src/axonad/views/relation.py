"""Relation: deviation of each channel from what the other channels say, now and just before.

Ridge regression (Hoerl and Kennard, Technometrics 1970) of each channel on the others of the same
row and of a few rows before, with a penalty chosen per channel on held-out rows. A channel's own
past is no input: it would tell almost everything about the channel, and a channel that no longer
fits the others would go unnoticed after one row. With more than about 200 channels, each is
predicted from those that tell most about it and from mixtures of the others
(:mod:`axonad.views.channel_groups`). :class:`~axonad.baselines.ridge.CrossChannelRidge` is the same
without past rows and held-out units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from axonad.score.residual_map import residual_map_without
from axonad.views.linear import Array, LinearView


@dataclass(kw_only=True, eq=False, repr=False)
class Relation(LinearView):
    """Largest deviation of a channel from its prediction by the others, in held-out units.

    A single channel has no others; it is predicted from its own past, as by ``Forecast``.

    Parameters
    ----------
    lags
        Rows before the current one that the prediction also uses; 0 uses the current one only.
    smooth
        Rows over which a channel's deviation is averaged; fewer react sooner, more find weak faults
        that last.
    align
        Which of those rows gets the score: ``"center"`` (best for recorded data) or ``"end"``.
    """

    lags: int = 8

    def _solve(self, moments: Array, penalty: float, targets: int) -> Array:
        inputs = len(moments) // (self.lags + 1)
        past = inputs * np.arange(1, self.lags + 1) if inputs > 1 else np.arange(0)
        unused = np.arange(targets)[:, None] + past
        return residual_map_without(moments, penalty=penalty, unused=unused)
