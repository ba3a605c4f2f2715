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
from numpy.typing import NDArray

from axonad.bench.correlation import correlate, correlation_sums, pearson

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


def block_length(windows: int, window: int) -> int:
    """Return how many windows a block has: a hundredth of all, two window lengths at least."""
    return max(2 * window, -(-windows // MOST_BLOCKS))


def block_correlation(
    x: Array, y: Array, *, block: int, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return the correlation of two courses with the interval of its block bootstrap."""
    sums = _by_block(correlation_sums(x, y), block)
    value = pearson(x, y)
    drawn = _draws(len(sums), seed, resamples)
    return Estimate(value, *_bounds(correlate(drawn @ sums)))


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
