"""What a detector may offer to live streams: to keep their windows, and score them row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix

Scored = tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]


class LiveWindows(Protocol):
    """The last rows of streams, each stream in a numbered slot, in whatever form scores faster."""

    def load(self, slot: int, rows: Matrix) -> None:
        """Begin anew in a slot with the rows of a full window."""

    def take(self, slots: Sequence[int], rows: Matrix) -> None:
        """Add one row to each of some slots that were loaded; their oldest rows go."""

    def score(self, slots: Sequence[int]) -> Scored:
        """Return score and components of each slot's window, as ``_score_ends`` would."""
