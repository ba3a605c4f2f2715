"""Correlations and shares over time, with intervals that know neighbours are alike.

Windows that overlap say nearly the same, so single windows must not be drawn anew: whole blocks of
successive ones are (Carlstein 1986, "The use of subseries values for estimating the variance of a
general statistic"). A correlation needs six sums, which are taken once per block; a draw is then a
weight per block. For a rank correlation the ranks of the whole series are kept in every draw.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
RESAMPLES = 1000
LEVEL = 0.95
MOST_BLOCKS = 100
FEWEST_BLOCKS = 5  # with less there is nothing to draw from


class Estimate(NamedTuple):
    """A value and the bounds of its interval; NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


def ranks(values: ArrayLike) -> Array:
    """Return the rank of every value, from 1, equal ones sharing the mean of theirs.

    >>> ranks([10, 20, 10, 5]).tolist()
    [2.5, 4.0, 2.5, 1.0]
    """
    array = np.asarray(values, dtype=np.float64)
    order = np.argsort(array, kind="stable")
    ordered = array[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    counts = np.diff(np.r_[first, array.size])
    result = np.empty(array.size)
    result[order] = np.repeat(first + (counts + 1) / 2, counts)
    return result


def pearson(x: Array, y: Array) -> float:
    """Return the correlation; NaN where one of them never changes."""
    return float(_correlate(_sums(x, y).sum(0)[None])[0])


def spearman(x: Array, y: Array) -> float:
    """Return the rank correlation; NaN where one of them never changes."""
    return pearson(ranks(x), ranks(y))


def block_length(windows: int, window: int) -> int:
    """Return how many windows a block has: a hundredth of all, two window lengths at least."""
    return max(2 * window, -(-windows // MOST_BLOCKS))


def block_correlation(
    x: Array, y: Array, *, block: int, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return the correlation of two courses with the interval of its block bootstrap."""
    sums = _by_block(_sums(x, y), block)
    value = pearson(x, y)
    drawn = _draws(len(sums), seed, resamples)
    return Estimate(value, *_bounds(_correlate(drawn @ sums)))


def block_share(
    part: NDArray[np.bool_],
    among: NDArray[np.bool_],
    *,
    block: int,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return which share of ``among`` is ``part`` too, with the interval of its bootstrap."""
    counts = np.stack([part & among, among], axis=1).astype(np.float64)
    sums = _by_block(counts, block)
    drawn = _draws(len(sums), seed, resamples) @ sums
    total = counts.sum(0)
    return Estimate(float(_divide(total[:1], total[1:])[0]), *_bounds(_divide(*drawn.T)))


def _sums(x: Array, y: Array) -> Array:
    """Return what a correlation adds up, per window: 1, x, y, x², y², xy, in units of their own."""
    x, y = _unit(x), _unit(y)
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)


def _unit(x: Array) -> Array:
    """Return x about its mean, no entry above 1: squares of extreme scores must not overflow."""
    x = x - x.mean()
    most = np.abs(x).max()
    unit: Array = x / most if most > 0 else x
    return unit


def _correlate(sums: Array) -> Array:
    n, x, y, xx, yy, xy = sums.T
    width = np.maximum(n * xx - x * x, 0) * np.maximum(n * yy - y * y, 0)
    tiny = width <= 1e-24 * n**4  # beyond what the sums resolve
    found = (n * xy - x * y) / np.sqrt(np.where(tiny, np.inf, width))
    return np.where(tiny, np.nan, np.clip(found, -1, 1))


def _by_block(values: Array, block: int) -> Array:
    """Return sums over blocks of rows; what is left at the end belongs to the last one."""
    starts = np.arange(0, max(1, len(values) - block + 1), block)
    return np.add.reduceat(values, starts, axis=0)


def _draws(blocks: int, seed: int, resamples: int) -> Array:
    """Return how often each block is drawn, (resamples, blocks); none where blocks are few."""
    if blocks < FEWEST_BLOCKS:
        return np.empty((0, blocks))
    rng = np.random.default_rng(seed)
    return rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=resamples).astype(np.float64)


def _divide(part: Array, whole: Array) -> Array:
    there = whole > 0
    return np.where(there, part / np.where(there, whole, 1), np.nan)


def _bounds(values: Array) -> tuple[float, float]:
    """Return the bounds within which most of the values lie; NaN without any."""
    there = values[~np.isnan(values)]
    if not there.size:
        return math.nan, math.nan
    low, high = np.quantile(there, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
