"""Ranks: who comes first on how many series, and which differences could be chance.

Friedman's test asks whether any detector differs, Nemenyi's critical difference which ones do.
Only series that every detector finished are ranked. Reference: J. Demsar, "Statistical
comparisons of classifiers over multiple data sets", JMLR 7 (2006).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axonad.bench.correlation import mean_ranks
from axonad.bench.row import Row
from axonad.errors import ConfigError, InputError
from axonad.report.grid import Grid, collect

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Detectors by average rank (1 is best) over the series all of them finished.

    ``cliques`` are the largest groups whose ranks lie within the critical difference of each
    other, those of one detector left out. ``left_out`` counts the series some detector lacks.
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    series: int
    left_out: int
    statistic: float
    p_value: float
    alpha: float
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...]
    setting: str


def rank_detectors(rows: Iterable[Row], *, metric: str = "VUS-PR", alpha: float = 0.05) -> Ranking:
    """Return the average ranks, Friedman's test and the critical difference."""
    grid = collect(rows, metric=metric)
    values, left_out = _finished_by_all(grid, metric)
    table = np.apply_along_axis(mean_ranks, 0, -values)  # (detectors, series), best is 1
    average = table.mean(axis=1)
    order = np.argsort(average, kind="stable")
    names = tuple(grid.names[i] for i in order)
    ranks = tuple(float(average[i]) for i in order)
    statistic, p_value = friedman(values)
    difference = critical_difference(len(names), series=values.shape[1], alpha=alpha)
    return Ranking(
        names=names,
        ranks=ranks,
        series=values.shape[1],
        left_out=left_out,
        statistic=statistic,
        p_value=p_value,
        alpha=alpha,
        critical_difference=difference,
        cliques=tuple(names[a:b] for a, b in find_cliques(ranks, width=difference)),
        setting=grid.setting,
    )


def _finished_by_all(grid: Grid, metric: str) -> tuple[FloatArray, int]:
    if len(grid.names) < 2:
        raise InputError(f"ranks need 2 detectors or more, got {grid.names[0]} alone")
    gaps = np.isnan(grid.values)
    complete = ~gaps.any(axis=0)
    if complete.sum() < 2:
        worst = grid.names[int(gaps.sum(axis=1).argmax())]
        raise InputError(
            f"ranks need 2 series or more with {metric} of every detector, got "
            f"{int(complete.sum())}; {worst} lacks {int(gaps.sum(axis=1).max())} of "
            f"{len(grid.series)}"
        )
    return grid.values[:, complete], int((~complete).sum())


def friedman(values: FloatArray) -> tuple[float, float]:
    """Return Friedman's chi-square and its p-value for values of shape (detectors, series).

    Ties are corrected for; if every detector ties with every other everywhere, p is 1.
    """
    k, n = values.shape
    ranks = np.apply_along_axis(mean_ranks, 0, values)
    tied = 0
    for column in ranks.T:
        _, counts = np.unique(column, return_counts=True)
        tied += int((counts**3 - counts).sum())
    correction = 1 - tied / (n * (k**3 - k))
    if correction <= 0:
        return 0.0, 1.0
    spread = 12 / (n * k * (k + 1)) * float((ranks.sum(axis=1) ** 2).sum()) - 3 * n * (k + 1)
    statistic = max(0.0, spread / correction)
    return statistic, chi_square_tail(statistic, freedom=k - 1)


def chi_square_tail(x: float, *, freedom: int) -> float:
    """Return the probability that a chi-square variable with whole freedom exceeds ``x``.

    The finite sums of Abramowitz & Stegun 26.4.4 and 26.4.5; all terms are positive.
    """
    if x <= 0:
        return 1.0
    half = x / 2
    odd = freedom % 2
    start = math.erfc(math.sqrt(half)) if odd else 0.0
    powers = np.arange(freedom // 2) + odd / 2
    terms = [math.exp(a * math.log(half) - half - math.lgamma(a + 1)) for a in powers]
    return min(1.0, start + math.fsum(terms))


def critical_difference(detectors: int, *, series: int, alpha: float = 0.05) -> float:
    """Return how far two average ranks must lie apart to differ (Nemenyi).

    >>> round(critical_difference(4, series=14), 2)  # Demsar's example, 2.569 sqrt(20 / 84)
    1.25
    """
    if not 0 < alpha < 1:
        raise ConfigError(f"alpha must lie in (0, 1), got {alpha}")
    spread = math.sqrt(detectors * (detectors + 1) / (6 * series))
    return range_quantile(detectors, level=1 - alpha) / math.sqrt(2) * spread


def range_quantile(k: int, *, level: float) -> float:
    """Return the quantile of the range of ``k`` standard normal variables.

    This is the studentised range with infinite freedom, computed, not looked up: the probability
    of a range below ``q`` is the integral of k φ(z) (Φ(z) - Φ(z - q))^(k-1) over z.
    """
    z = np.linspace(-9, 9, 1801)
    below = _normal_cdf(z)
    density = k * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    low, high = 0.0, 40.0
    while high - low > 1e-10:
        q = (low + high) / 2
        inside = density * (below - _normal_cdf(z - q)) ** (k - 1)
        if float(inside.sum()) * (z[1] - z[0]) < level:
            low = q
        else:
            high = q
    return (low + high) / 2


def _normal_cdf(z: FloatArray) -> FloatArray:
    return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in z.tolist()])


def find_cliques(ranks: Sequence[float], *, width: float) -> list[tuple[int, int]]:
    """Return the largest runs ``[first, last)`` of sorted ranks that span less than ``width``.

    >>> find_cliques([1.0, 1.5, 2.4, 4.0], width=1.0)
    [(0, 2), (1, 3)]
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = first + sum(other - rank < width for other in ranks[first:])
        if last - first > 1 and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
