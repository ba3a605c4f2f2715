"""Average ranks of detectors over series, Friedman's test and Nemenyi's critical difference.

Friedman's test tells whether any detector differs, the critical difference which ones do. Only
series that every detector finished are ranked. Reference: J. Demsar, "Statistical comparisons of
classifiers over multiple data sets", JMLR 7 (2006).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.report.results_grid import FloatArray, Grid, collect
from axonad.report.statistics import load_scipy_stats

ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Detectors by average rank (1 is best) over the series all of them finished.

    ``p_value`` is Friedman's. ``cliques`` are the largest groups of two or more detectors whose
    ranks differ by less than the critical difference. ``left_out`` counts the series that some
    detector lacks.
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    series: int
    left_out: int
    p_value: float
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...]
    setting: str


def rank_detectors(rows: Iterable[Row], *, metric: str = "VUS-PR") -> Ranking:
    """Return the average ranks, Friedman's test and the critical difference."""
    grid = collect(rows, metric=metric)
    values, left_out = _finished_by_all(grid, metric)
    average = load_scipy_stats().rankdata(-values, axis=0).mean(axis=1)
    order = np.argsort(average, kind="stable")
    names = tuple(grid.names[i] for i in order)
    ranks = tuple(float(average[i]) for i in order)
    difference = critical_difference(len(names), series=values.shape[1])
    return Ranking(
        names=names,
        ranks=ranks,
        series=values.shape[1],
        left_out=left_out,
        p_value=friedman(values)[1],
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
    """Return Friedman's chi-square, corrected for ties, and its p-value.

    ``values`` has the shape (detectors, series). If all detectors tie on every series, p is 1.
    Unlike ``scipy.stats.friedmanchisquare`` this also compares two detectors.
    """
    stats = load_scipy_stats()
    k, n = values.shape
    ranks = stats.rankdata(values, axis=0)
    correction = float(np.mean([stats.tiecorrect(column) for column in ranks.T]))
    if correction <= 0:
        return 0.0, 1.0
    spread = 12 / (n * k * (k + 1)) * float((ranks.sum(axis=1) ** 2).sum()) - 3 * n * (k + 1)
    statistic = max(0.0, spread / correction)
    return statistic, float(stats.chi2.sf(statistic, k - 1))


def critical_difference(detectors: int, *, series: int) -> float:
    """Return how far apart two average ranks must be to differ significantly (Nemenyi, 5 %).

    >>> round(critical_difference(4, series=14), 2)  # Demsar's example, 2.569 sqrt(20 / 84)
    1.25
    """
    quantile = load_scipy_stats().studentized_range.ppf(1 - ALPHA, detectors, math.inf)
    return float(quantile) * math.sqrt(detectors * (detectors + 1) / (12 * series))


def find_cliques(ranks: Sequence[float], *, width: float) -> list[tuple[int, int]]:
    """Return the longest ranges ``[first, last)`` of sorted ranks that span less than ``width``.

    >>> find_cliques([1.0, 1.5, 2.4, 4.0], width=1.0)
    [(0, 2), (1, 3)]
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = first + sum(other - rank < width for other in ranks[first:])
        if last - first > 1 and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
