"""Ways to make one score of the two parts: the paper's sum, and others that are ours.

The sum lets a part with heavier tails drown the other. What follows asks whether that costs
anything: the same two parts, combined otherwise. Every rule reads the parts in robust units of
the training windows and gives one score per step; no rule sees a label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.bench.correlation import mean_ranks
from axonad.data.windows import spread

Array = NDArray[np.float64]
CLIP = 10.0  # robust units


class Parts(NamedTuple):
    """Both parts of every window in robust units, and where a window's score belongs."""

    d_rec: Array
    d_q: Array
    window: int
    tail: int
    align: str

    def place(self, values: Array) -> Array:
        """Return one value per step, where the detector puts it."""
        return spread(values, window=self.window, align=self.align)


def add(parts: Parts) -> Array:
    """Return rz(d_rec) + rz(d_q), the paper's score."""  # Eq. 6
    return parts.place(parts.d_rec + parts.d_q)


def take_larger(parts: Parts) -> Array:
    """Return the larger of the two."""
    return parts.place(np.maximum(parts.d_rec, parts.d_q))


def add_ranks(parts: Parts) -> Array:
    """Return the sum of both ranks among the windows scored: each part counts the same."""
    return parts.place(mean_ranks(parts.d_rec) + mean_ranks(parts.d_q))


def add_clipped(parts: Parts) -> Array:
    """Return the sum, neither part counting for more than ten robust units."""
    return parts.place(np.clip(parts.d_rec, -CLIP, CLIP) + np.clip(parts.d_q, -CLIP, CLIP))


def add_logarithms(parts: Parts) -> Array:
    """Return the sum of both compressed, sign(z)·log(1 + |z|)."""
    return parts.place(_compress(parts.d_rec) + _compress(parts.d_q))


def place_query(parts: Parts) -> Array:
    """Return d_q where it looks: at the middle of the window's tail, not of the window."""
    behind = (parts.tail - 1) // 2
    early = parts.window - 1 - behind
    first, last = np.repeat(parts.d_q[:1], early), np.repeat(parts.d_q[-1:], behind)
    return np.concatenate([first, parts.d_q, last])


def add_placed(parts: Parts) -> Array:
    """Return the paper's sum with d_q put where it looks."""
    return parts.place(parts.d_rec) + place_query(parts)


def add_placed_logarithms(parts: Parts) -> Array:
    """Return the same, both compressed."""
    return parts.place(_compress(parts.d_rec)) + _compress(place_query(parts))


def _compress(z: Array) -> Array:
    compressed: Array = np.sign(z) * np.log1p(np.abs(z))
    return compressed


Rule = Callable[[Parts], Array]
ALONE: dict[str, Rule] = {
    "d_rec": lambda parts: parts.place(parts.d_rec),
    "d_q": lambda parts: parts.place(parts.d_q),
}
PAPER: dict[str, Rule] = {"sum": add}
OURS: dict[str, Rule] = {
    "max": take_larger,
    "ranks": add_ranks,
    "clipped": add_clipped,
    "log": add_logarithms,
    "d_q placed": place_query,
    "sum placed": add_placed,
    "log placed": add_placed_logarithms,
}
RULES: dict[str, Rule] = {**ALONE, **PAPER, **OURS}
