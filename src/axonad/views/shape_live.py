"""Shape scores of live streams, one row at a time.

Reference: ``ShapeMemory.score_ends`` on the last rows of a stream. A new row makes one new window
of each length. Its points are computed from the scaled rows of the stream, which are kept, in one
product with all directions of that length. Nothing is updated from row to row, so no error builds
up over time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

import numpy as np

from axonad.data.frames import Matrix
from axonad.data.scaling import Scaler
from axonad.live_windows import Scored
from axonad.views.shape_part import ShapePart
from axonad.views.shape_search import Values
from axonad.views.shape_space import complete
from axonad.views.slots import SlotRows

BATCH_VALUES = 400_000  # values of windows that exist at a time


class ShapeWindows:
    """The last scaled rows of live streams, each in a slot; scores the windows that end there."""

    def __init__(self, scaler: Scaler, parts: Sequence[ShapePart]) -> None:
        self.parts = parts
        self._scaler = scaler
        self._longest = max(part.length for part in parts)
        self._rows = SlotRows(self._longest, len(scaler.unit))
        self._lengths = [_Length(list(same)) for _, same in groupby(parts, lambda p: p.length)]
        self._median = np.array([[part.median] for part in parts])
        self._unit = np.array([[part.unit] for part in parts])

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
        distances = np.concatenate(
            [each.distances(self._rows.last(slots, each.length)) for each in self._lengths]
        )
        scores = np.log1p(np.maximum((distances - self._median) / self._unit, 0))
        return np.asarray(scores.mean(axis=0))


class _Length:
    """The parts of one window length, with their directions side by side."""

    def __init__(self, parts: Sequence[ShapePart]) -> None:
        self.length = parts[0].length
        self._parts = parts
        self._filters = np.concatenate([part.space.row_filters for part in parts], axis=1)
        self._squared = np.stack([part.space.weights**2 for part in parts], axis=1)
        ends = np.cumsum([0, *(len(part.space.directions) for part in parts)]).tolist()
        self._columns = [slice(*pair) for pair in pairwise(ends)]

    def distances(self, rows: Values) -> Values:
        """Return for each part the distances of windows (window, step, channel) to the memory."""
        windows = rows - rows.mean(axis=1, keepdims=True)
        energies = np.einsum("nlc,nlc->nl", windows, windows) @ self._squared
        coordinates = windows.reshape(len(windows), -1) @ self._filters
        found = np.empty((len(self._parts), len(windows)))
        for i, (part, columns) in enumerate(zip(self._parts, self._columns, strict=True)):
            points = complete(coordinates[:, columns], energies[:, i])
            found[i] = part.memory.distances(points)
        return found
