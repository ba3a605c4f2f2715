"""Ranks and correlations: the one implementation that rows, findings and tables share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def mean_ranks(values: ArrayLike) -> Array:
    """Return the rank of every value, the smallest first, from 1; equal ones share their mean rank.

    >>> mean_ranks([10, 20, 10, 5]).tolist()
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


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Return the correlation; NaN where one of them never changes."""
    return float(correlate(correlation_sums(x, y).sum(0)[None])[0])


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Return the rank correlation; NaN where one of them never changes."""
    return pearson(mean_ranks(x), mean_ranks(y))


def correlation_sums(x: ArrayLike, y: ArrayLike) -> Array:
    """Return what a correlation adds up, a row a pair: 1, x, y, x², y², xy, in own units."""
    x, y = _unit(np.asarray(x, dtype=np.float64)), _unit(np.asarray(y, dtype=np.float64))
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)


def correlate(sums: Array) -> Array:
    """Return the correlation that each row of sums gives; NaN where one side never changes."""
    n, x, y, xx, yy, xy = sums.T
    width = np.maximum(n * xx - x * x, 0) * np.maximum(n * yy - y * y, 0)
    tiny = width <= 1e-24 * n**4  # beyond what the sums resolve
    found = (n * xy - x * y) / np.sqrt(np.where(tiny, np.inf, width))
    return np.where(tiny, np.nan, np.clip(found, -1, 1))


def _unit(x: Array) -> Array:
    """Return x about its mean, no entry above 1: squares of extreme scores must not overflow."""
    x = x - x.mean()
    most = np.abs(x).max()
    unit: Array = x / most if most > 0 else x
    return unit
