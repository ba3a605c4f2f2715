"""Shape scores of live streams, one row at a time.

Reference: ``ShapeMemory.score_ends`` on the last rows of a stream. A new row makes one new window
of each length. Its point is computed from the scaled rows of the stream, which are kept: a product
with the fixed directions. Nothing is updated from row to row, so no error builds up over time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from axonad.data.frames import Matrix
from axonad.data.scaling import Scaler
from axonad.live_windows import Scored
from axonad.views.shape_part import ShapePart
from axonad.views.shape_space import Values
from axonad.views.slots import SlotRows

BATCH_VALUES = 400_000  # values of windows that exist at a time


class ShapeWindows:
    """The last scaled rows of live streams, each in a slot; scores the windows that end there."""

    def __init__(self, scaler: Scaler, parts: Sequence[ShapePart]) -> None:
        self.parts = parts
        self._scaler = scaler
        self._longest = max(part.length for part in parts)
        self._rows = SlotRows(self._longest, len(scaler.unit))

    def load(self, slot: int, rows: Matrix) -> None:
        """Start a slot with the rows of its longest window."""
        self._rows.load(slot, self._scaler.apply(rows).astype(np.float64))

    def append(self, slots: Sequence[int], rows: Matrix) -> None:
        """Append one row to each of some loaded slots; their oldest rows are dropped."""
        self._rows.append(slots, self._scaler.apply(rows).astype(np.float64))

    def score(self, slots: Sequence[int]) -> Scored:
        """Return the score of each slot's last row; it has no components."""
        size = max(1, BATCH_VALUES // (self._longest * len(self._scaler.unit)))
        found = [self._scores(slots[i : i + size]) for i in range(0, len(slots), size)]
        return np.concatenate(found), {}

    def _scores(self, slots: Sequence[int]) -> Values:
        total, length = np.zeros(len(slots)), 0
        for part in self.parts:  # those of one length follow one another
            if part.length != length:
                length = part.length
                windows = self._rows.last(slots, length)
                windows = windows - windows.mean(axis=1, keepdims=True)
                energy = np.einsum("nlc,nlc->nl", windows, windows)
                flat = windows.reshape(len(slots), -1)
            coordinates = flat @ part.space.row_filters
            points = part.space.complete(coordinates, energy)
            distances = np.array([part.lookup.distance(point) for point in points])
            total += part.score(distances)
        return total / len(self.parts)
