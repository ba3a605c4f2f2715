"""A recording as an explanation sees it, and the part of it that concerns one event."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, Names
from axonad.explain.reference import Reference
from axonad.threshold import Event

Array = NDArray[np.float64]

LONGEST = 2_000  # rows of an event that are looked at: its first ones
AROUND = 256  # rows before and after, beside two windows


@dataclass(frozen=True, eq=False)
class Scene:
    """Rows with the channels of training, and how their detector scores them.

    ``first`` is the number of the first row. No window spans a row of ``cuts``. A score is that of
    ``history`` rows, which end at its row if ``at_end``, else lie around it. ``score`` returns one
    score per row; with ``whole`` it must be given all rows of a stretch without a cut.
    """

    reference: Reference
    names: Names
    values: Matrix
    score: Callable[[Matrix], Array]
    threshold: float
    history: int
    at_end: bool = True
    whole: bool = False
    cuts: tuple[int, ...] = ()
    first: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the channels, or their numbers."""
        return self.names or tuple(map(str, range(self.values.shape[1])))

    def view(self, event: Event) -> View:
        """Return the rows that concern an event."""
        start, end = event.start - self.first, event.end - self.first
        end = min(end, start + LONGEST)
        edges = [0, *self.cuts, len(self.values)]
        place = bisect_right(edges, start)
        low, high = edges[place - 1], edges[place]
        around = 2 * self.history + AROUND
        left, right = max(low, start - around), min(high, end + around)
        before = self.history - 1 if self.at_end else self.history // 2
        after = 0 if self.at_end else self.history // 2
        return View(
            rows=np.asarray(self.values[left:right], dtype=np.float64),
            left=left, low=low, high=high,
            event=slice(start - left, end - left),
            concerned=slice(max(0, start - before - left), min(end + after, right) - left),
        )  # fmt: skip

    def peak(self, view: View, rows: Array) -> float:
        """Return the highest score of the event with these rows in place of the view's."""
        if self.whole:
            stretch = np.array(self.values[view.low : view.high], dtype=np.float64)
            offset = view.left - view.low
            stretch[offset : offset + len(rows)] = rows
            scores = self.score(stretch)[offset : offset + len(rows)][view.event]
        else:  # the event's scores see no other rows
            start = max(0, min(view.concerned.start, view.concerned.stop - self.history))
            event = slice(view.event.start - start, view.event.stop - start)
            scores = self.score(rows[start : view.concerned.stop])[event]
        return float(scores.max())


@dataclass(frozen=True, eq=False)
class View:
    """The rows around an event, and which of them are the event's and those its scores concern.

    ``left`` is the index of the first row in the recording; its stretch is ``[low, high)``.
    """

    rows: Array
    left: int
    low: int
    high: int
    event: slice
    concerned: slice
