"""Ranges of consecutive steps, as half-open ``[start, stop)`` index pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
LevelArray = NDArray[np.uint8]
Number = TypeVar("Number", np.int64, np.float64)


def find_ranges(mask: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the starts and stops of all ranges of true values.

    >>> [r.tolist() for r in find_ranges(np.array([1, 1, 0, 1], dtype=bool))]
    [[0, 3], [2, 4]]
    """
    edges = np.flatnonzero(mask[1:] != mask[:-1]) + 1
    first = [0] if mask.size and mask[0] else []
    last = [mask.size] if mask.size and mask[-1] else []
    bounds = np.concatenate([first, edges, last]).astype(np.int64)
    return bounds[0::2], bounds[1::2]


def steps_of(starts: IntArray, stops: IntArray) -> tuple[IntArray, IntArray]:
    """Return every step of the ranges, and for each step the index of its range.

    >>> [r.tolist() for r in steps_of(np.array([2, 7]), np.array([4, 8]))]
    [[2, 3, 7], [0, 0, 1]]
    """
    lengths = np.maximum(stops - starts, 0)
    owner = np.repeat(np.arange(lengths.size), lengths)
    before = np.cumsum(lengths) - lengths
    steps = np.arange(owner.size) + (starts - before)[owner]
    return steps, owner


def iter_level_runs(levels: LevelArray, count: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the ranges where ``levels > q`` for q = 0, 1, ..., ``count - 1``.

    Each level searches only the steps of the level before, so high levels are cheap.
    """
    active = np.flatnonzero(levels)
    height = levels[active]
    for q in range(count):
        keep = height > q
        active, height = active[keep], height[keep]
        breaks = np.flatnonzero(active[1:] != active[:-1] + 1) + 1
        if not active.size:
            yield active, active
            continue
        heads = np.concatenate([[0], breaks])
        tails = np.concatenate([breaks, [active.size]]) - 1
        yield active[heads], active[tails] + 1


def sum_above(histogram: NDArray[Number]) -> NDArray[Number]:
    """Return, for each threshold q, the sum over the levels above q (last axis).

    >>> sum_above(np.array([5, 2, 1])).tolist()
    [3, 1]
    """
    total: NDArray[Number] = np.cumsum(histogram[..., ::-1], axis=-1)[..., ::-1]
    return total[..., 1:]
