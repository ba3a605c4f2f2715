"""Correlations and shares of windows, with confidence intervals from a block bootstrap.

Overlapping windows are nearly equal, so resampling single windows would give intervals that are too
narrow. Whole blocks of successive windows are resampled instead (Carlstein 1986, "The use of
subseries values for estimating the variance of a general statistic"). A correlation needs six sums,
computed once per block; a resample is then a weight per block. For a rank correlation the ranks of
the whole series are used in every resample.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.bench.correlation import correlate, correlation_sums, pearson

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
RESAMPLES = 1000
LEVEL = 0.95
MAX_BLOCKS = 100
MIN_BLOCKS = 5  # fewer give no interval


class Estimate(NamedTuple):
    """A value and the bounds of its confidence interval; NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


def block_length(windows: int, window: int) -> int:
    """Return the windows per block: a hundredth of all, and at least two window lengths."""
    return max(2 * window, -(-windows // MAX_BLOCKS))


def block_correlation(
    x: Array, y: Array, *, block: int, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return the correlation of two series of values, with its confidence interval."""
    sums = _sum_blocks(correlation_sums(x, y), block)
    weights = _draw_weights(len(sums), seed, resamples)
    return Estimate(pearson(x, y), *_bounds(correlate(weights @ sums)))


def block_share(
    part: Mask, among: Mask, *, block: int, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return the share of ``among`` that is also in ``part``, with its confidence interval."""
    counts = np.stack([part & among, among], axis=1).astype(np.float64)
    sums = _sum_blocks(counts, block)
    resampled = _draw_weights(len(sums), seed, resamples) @ sums
    total = counts.sum(0)
    return Estimate(float(_divide(total[:1], total[1:])[0]), *_bounds(_divide(*resampled.T)))


def _sum_blocks(values: Array, block: int) -> Array:
    """Return sums over blocks of rows; remaining rows belong to the last block."""
    starts = np.arange(0, max(1, len(values) - block + 1), block)
    return np.add.reduceat(values, starts, axis=0)


def _draw_weights(blocks: int, seed: int, resamples: int) -> Array:
    """Return how often each resample draws each block, (resamples, blocks)."""
    if blocks < MIN_BLOCKS:
        return np.empty((0, blocks))
    rng = np.random.default_rng(seed)
    return rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=resamples).astype(np.float64)


def _divide(part: Array, whole: Array) -> Array:
    """Return ``part / whole``, NaN where ``whole`` is 0."""
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def _bounds(values: Array) -> tuple[float, float]:
    """Return the bounds of the central 95 % of the values that are not NaN."""
    known = values[~np.isnan(values)]
    if not known.size:
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
