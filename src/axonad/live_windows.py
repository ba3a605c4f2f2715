"""The interface of a detector that scores live streams row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix

Scored = tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]
"""Scores, and the components they are made of."""


class LiveWindows(Protocol):
    """The last rows of many streams, each in a numbered slot, in a form that is fast to score."""

    def load(self, slot: int, rows: Matrix) -> None:
        """Start a slot with the rows of a full window."""

    def append(self, slots: Sequence[int], rows: Matrix) -> None:
        """Append one row to each of some loaded slots; their oldest rows are dropped."""

    def score(self, slots: Sequence[int]) -> Scored:
        """Return score and components of each slot's window, as ``score_ends`` would."""
