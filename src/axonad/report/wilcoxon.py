"""The Wilcoxon signed-rank test, two-sided, as ``scipy.stats.wilcoxon`` does it by default.

Zeros are dropped (Wilcoxon's own method) and ties share their mean rank. Up to 50 differences
without ties or zeros, and up to 13 with them, the p-value is exact; beyond that it is the normal
approximation with the correction for ties and none for continuity.

Reference: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from axonad.bench.correlation import mean_ranks
from axonad.errors import InputError

FloatArray = NDArray[np.float64]
EXACT, EXACT_WITH_TIES = 50, 13


def wilcoxon_p(differences: ArrayLike) -> float:
    """Return how likely differences this one-sided are if their sign means nothing.

    Without any difference other than zero the answer is 1.

    >>> wilcoxon_p([0.1, 0.2, 0.3, 0.4, 0.5])
    0.0625
    """
    given = np.asarray(differences, dtype=np.float64).ravel()
    if not given.size or not np.isfinite(given).all():
        raise InputError("a Wilcoxon test needs at least one difference, all of them finite")
    kept = given[given != 0]
    if not kept.size:
        return 1.0
    ranks = mean_ranks(np.abs(kept))
    positive = float(ranks[kept > 0].sum())
    uneven = kept.size < given.size or np.unique(ranks).size < ranks.size
    if given.size <= (EXACT_WITH_TIES if uneven else EXACT):
        return _exact(ranks, positive)
    return _normal(ranks, positive)


def _exact(ranks: FloatArray, positive: float) -> float:
    """Count, over every choice of signs, the rank sums as far out as this one."""
    doubled = np.rint(2 * ranks).astype(int)  # mean ranks are halves: doubled they are whole
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] = ways[rank:] + ways[:-rank]
    here = round(2 * positive)
    smaller_tail = min(ways[: here + 1].sum(), ways[here:].sum())
    return float(min(1.0, 2 * smaller_tail / ways.sum()))


def _normal(ranks: FloatArray, positive: float) -> float:
    n = ranks.size
    _, tied = np.unique(ranks, return_counts=True)
    variance = (n * (n + 1) * (2 * n + 1) - float((tied**3 - tied).sum()) / 2) / 24
    z = (positive - n * (n + 1) / 4) / math.sqrt(variance)
    return math.erfc(abs(z) / math.sqrt(2))
