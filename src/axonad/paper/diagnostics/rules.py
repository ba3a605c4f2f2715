"""Rules that combine the two parts into one score: the paper's sum, and alternatives of ours.

In a sum, a part with heavier tails dominates the other; the alternatives show whether that costs
quality. Every rule takes both parts standardised by the training windows (robust z) and returns one
score per step. No rule uses labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.bench.correlation import mean_ranks
from axonad.data.windows import spread

Array = NDArray[np.float64]
CLIP = 10.0  # robust z


class Parts(NamedTuple):
    """Both parts of every window as robust z, and how window scores map to steps."""

    d_rec: Array
    d_q: Array
    window: int
    tail: int
    align: str

    def place(self, values: Array) -> Array:
        """Return one value per step, aligned as the detector aligns its scores."""
        return spread(values, window=self.window, align=self.align)


def place_query(parts: Parts) -> Array:
    """Return d_q placed at the middle of the window's tail, the steps it is computed from."""
    after = (parts.tail - 1) // 2
    return np.pad(parts.d_q, (parts.window - 1 - after, after), mode="edge")


def _log(z: Array) -> Array:
    compressed: Array = np.sign(z) * np.log1p(np.abs(z))
    return compressed


Rule = Callable[[Parts], Array]
ALONE: dict[str, Rule] = {
    "d_rec": lambda parts: parts.place(parts.d_rec),
    "d_q": lambda parts: parts.place(parts.d_q),
}
PAPER: dict[str, Rule] = {"sum": lambda parts: parts.place(parts.d_rec + parts.d_q)}  # Eq. 6
OURS: dict[str, Rule] = {
    "max": lambda parts: parts.place(np.maximum(parts.d_rec, parts.d_q)),
    "ranks": lambda parts: parts.place(mean_ranks(parts.d_rec) + mean_ranks(parts.d_q)),
    "clipped": lambda parts: parts.place(
        np.clip(parts.d_rec, -CLIP, CLIP) + np.clip(parts.d_q, -CLIP, CLIP)
    ),
    "log": lambda parts: parts.place(_log(parts.d_rec) + _log(parts.d_q)),
    "d_q placed": place_query,
    "sum placed": lambda parts: parts.place(parts.d_rec) + place_query(parts),
    "log placed": lambda parts: parts.place(_log(parts.d_rec)) + _log(place_query(parts)),
}
RULES: dict[str, Rule] = {**ALONE, **PAPER, **OURS}
