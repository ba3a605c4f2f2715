"""Scores of a linear view on live streams, one row at a time, many streams at once.

Reference: ``LinearView.score_ends`` on the last rows of a stream. The deviations of a row are
computed once, from the rows before it; a score averages those of the last rows, which are kept.
Nothing is updated from row to row, so no error builds up over time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix
from axonad.live_windows import Scored
from axonad.views.lagged_map import LaggedMap
from axonad.views.slots import SlotRows

Array = NDArray[np.float64]


class LinearWindows:
    """The last rows and deviations of live streams, each in a slot.

    Parameters
    ----------
    scale
        Returns rows as the prediction sees them.
    map
        From lagged rows to residuals.
    spread
        The unit of each channel's residual.
    smooth
        Rows over which deviations are averaged.
    """

    def __init__(
        self, scale: Callable[[Matrix], Array], map: LaggedMap, spread: Array, *, smooth: int
    ) -> None:
        self.map, self.spread = map, spread
        self._scale, self._smooth = scale, smooth
        self._rows = SlotRows(map.lags + 1, map.channels)
        self._deviations = SlotRows(smooth, map.channels)

    def load(self, slot: int, rows: Matrix) -> None:
        """Start a slot with the rows that one score needs."""
        scaled = self._scale(rows)
        self._rows.load(slot, scaled[-self.map.lags - 1 :])
        self._deviations.load(slot, np.abs(self.map.residuals(scaled)) / self.spread)

    def append(self, slots: Sequence[int], rows: Matrix) -> None:
        """Append one row to each of some loaded slots; their oldest rows are dropped."""
        self._rows.append(slots, self._scale(rows))
        residuals = self.map.last_residuals(self._rows.last(slots, self.map.lags + 1))
        self._deviations.append(slots, np.abs(residuals) / self.spread)

    def score(self, slots: Sequence[int]) -> Scored:
        """Return the score of each slot's last row; it has no components."""
        deviations = self._deviations.last(slots, self._smooth)
        return deviations.mean(axis=1).max(axis=1), {}
