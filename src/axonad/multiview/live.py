"""Live windows of MultiView: each view keeps its own, and the weighted scores are added."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from axonad.data.frames import Matrix
from axonad.detector import Detector
from axonad.live_windows import LiveWindows, Scored
from axonad.score.level import Values

Combine = Callable[[Mapping[str, Values]], Scored]
"""Makes score and components of the scores of the views."""


class WholeWindows:
    """Live windows of a detector that has none of its own: each is scored as a whole."""

    def __init__(self, detector: Detector) -> None:
        self.detector = detector
        self._rows: dict[int, Matrix] = {}

    def load(self, slot: int, rows: Matrix) -> None:
        """Start a slot with the rows of a full window."""
        self._rows[slot] = np.array(rows, dtype=np.float64)

    def append(self, slots: Sequence[int], rows: Matrix) -> None:
        """Append one row to each of some loaded slots; their oldest rows are dropped."""
        for slot, row in zip(slots, rows, strict=True):
            self._rows[slot] = np.concatenate([self._rows[slot][1:], row[None]])

    def score(self, slots: Sequence[int]) -> Scored:
        """Return the score of each slot's window."""
        found = [self.detector.score_ends(self._rows[slot])[0] for slot in slots]
        return np.concatenate(found), {}


class ManyWindows:
    """The live windows of all views."""

    def __init__(
        self, parts: Mapping[str, LiveWindows], views: Mapping[str, Detector], combine: Combine
    ) -> None:
        self.parts = dict(parts)
        self._views = dict(views)
        self._combine = combine

    def load(self, slot: int, rows: Matrix) -> None:
        """Start a slot of every view with the last rows of a full window."""
        for name, part in self.parts.items():
            view = self._views[name]
            part.load(slot, view.in_context(rows[len(rows) - view.history :]))

    def append(self, slots: Sequence[int], rows: Matrix) -> None:
        """Append one row to each of some loaded slots; their oldest rows are dropped."""
        for name, part in self.parts.items():
            part.append(slots, self._views[name].in_context(rows))

    def score(self, slots: Sequence[int]) -> Scored:
        """Return score and components of each slot's windows."""
        return self._combine({name: part.score(slots)[0] for name, part in self.parts.items()})
