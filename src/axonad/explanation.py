"""What one pass over a series gives a person: scores, parts, alarms, events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Names
from axonad.threshold import Event, find_events


@dataclass(frozen=True)
class Explanation:
    """What one pass over a series gives: scores, their parts, and how strange each channel is."""

    scores: NDArray[np.float64]
    components: dict[str, NDArray[np.float64]]
    blame: NDArray[np.float64] | None
    threshold: float
    names: Names

    @property
    def alarms(self) -> NDArray[np.bool_]:
        """Where the score lies above the threshold."""
        return self.scores > self.threshold

    def events(self, *, gap: int = 0, top: int = 4) -> list[Event]:
        """Return the alarms as events; see :func:`axonad.threshold.find_events`."""
        return find_events(
            self.alarms, self.scores, gap=gap, blame=self.blame, names=self.names, top=top
        )
