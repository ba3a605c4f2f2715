"""Ranks and correlations shared by rows, findings and tables.

The correlation is computed from six sums per sample, which SciPy does not offer: a bootstrap then
reweights sums of blocks instead of copying samples (``paper/diagnostics/blocks.py``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from axonad.extras import need

Array = NDArray[np.float64]


def mean_ranks(values: ArrayLike) -> Array:
    """Return the rank of every value, 1 for the smallest; ties share their mean rank.

    >>> mean_ranks([10, 20, 10, 5]).tolist()
    [2.5, 4.0, 2.5, 1.0]
    """
    ranks: Array = need("scipy.stats", what="ranks need").rankdata(values)
    return ranks


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Return Pearson's correlation; NaN if ``x`` or ``y`` is constant."""
    return float(correlate(correlation_sums(x, y).sum(0)[None])[0])


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's rank correlation; NaN if ``x`` or ``y`` is constant."""
    return pearson(mean_ranks(x), mean_ranks(y))


def correlation_sums(x: ArrayLike, y: ArrayLike) -> Array:
    """Return the summands of a correlation, one row per sample: 1, x, y, x², y², xy.

    ``x`` and ``y`` are centred and scaled to at most 1, which does not change the correlation.
    """
    x, y = _normalise(np.asarray(x, dtype=np.float64)), _normalise(np.asarray(y, dtype=np.float64))
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)


def correlate(sums: Array) -> Array:
    """Return the correlation of each row of summed summands; NaN if either side is constant."""
    n, x, y, xx, yy, xy = sums.T
    variances = np.maximum(n * xx - x * x, 0) * np.maximum(n * yy - y * y, 0)
    constant = variances <= 1e-24 * n**4  # below the rounding error of the sums
    correlation = (n * xy - x * y) / np.sqrt(np.where(constant, np.inf, variances))
    return np.where(constant, np.nan, np.clip(correlation, -1, 1))


def _normalise(x: Array) -> Array:
    """Centre ``x`` and scale it to at most 1, so that squares of extreme scores do not overflow."""
    x = x - x.mean()
    largest = np.abs(x).max()
    scaled: Array = x / largest if largest > 0 else x
    return scaled
