"""Blame: how much each channel contributes to the score of a window.

The error of a channel is standardised by its own training errors, so that channels that are easy
and hard to predict can be compared. Two rules keep channels that hardly moved in training from
being blamed for nothing:

- The spread of a channel's errors counts as at least a tenth of the median over the channels that
  moved. The errors of a constant channel, or of a flag that seldom switches, have a spread near 0,
  and divided by it any trifle would outrank a fault. The floor is relative to the other channels
  because every detector measures its errors in a unit of its own; a tenth, as in
  :mod:`axonad.data.scaling`, leaves the order of channels that do move as it is.
- A channel that was still in training (see :mod:`axonad.data.scaling`) and does not leave its
  constant within a window has the blame -inf there: whatever error the model makes on it comes from
  other channels. Events never list such a channel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix
from axonad.data.scaling import Scaler
from axonad.score.standardise import RobustScale

FLOOR = 0.1  # smallest spread of a channel's errors, as a share of the median over channels
MOVED = 0.5  # distance from its constant at which a still channel moved, in units of the scaler


def fit_channel_scale(errors: NDArray[np.floating], scaler: Scaler) -> RobustScale:
    """Return median and spread of each channel's errors (windows, F) in training."""
    scale, moving = RobustScale.fit(errors), ~scaler.still
    floor = FLOOR * np.median(scale.spread[moving]) if moving.any() else 0.0
    return RobustScale(scale.median, np.maximum(scale.spread, floor))


def withhold(blame: NDArray[np.float64], X: Matrix, scaler: Scaler) -> NDArray[np.float64]:
    """Return the blame of all windows of ``X`` (windows, F), -inf for channels that stood still."""
    still = np.flatnonzero(scaler.still)
    if len(still) == 0:
        return blame
    moved = np.abs(X[:, still] - scaler.center[still]) > MOVED * scaler.unit[still]
    window = len(X) - len(blame) + 1
    count = np.concatenate([np.zeros((1, len(still)), dtype=np.int64), np.cumsum(moved, axis=0)])
    result = np.array(blame, dtype=np.float64)
    result[:, still] = np.where(count[window:] > count[:-window], result[:, still], -np.inf)
    return result
