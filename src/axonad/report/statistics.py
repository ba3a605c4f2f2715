"""Statistics of benchmark rows: means over series and data sets, paired comparisons, Holm.

All functions are pure. A missing value is left out and counted, never filled in. Higher is better
for every metric compared here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from axonad.bench.row import Row
from axonad.errors import ConfigError, InputError
from axonad.extras import need
from axonad.report.results_grid import FloatArray, Grid, collect, find_name

OVER = ("series", "datasets")
RESAMPLES = 10_000
_BATCH = 1_000_000  # values drawn at once, to bound the memory of the bootstrap


def load_scipy_stats() -> Any:
    """Return ``scipy.stats``; imported on first use, with a hint how to install it."""
    return need("scipy.stats", what="tests and intervals need")


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Mean and sample standard deviation of a line, and how much of it is missing.

    ``series`` counts the series with a value and ``datasets`` the data sets they belong to.
    ``missing`` counts the series that only other lines have a value for, ``failed`` the failed
    runs. The mean of no value is NaN, and so is the deviation of fewer than two.
    """

    name: str
    mean: float
    std: float
    series: int
    datasets: int
    missing: int
    failed: int


def summarise(
    rows: Iterable[Row], *, metric: str = "VUS-PR", over: str = "series"
) -> list[Summary]:
    """Return a summary of every line, ordered by name.

    ``over="series"`` weights all series equally; ``over="datasets"`` weights all data sets equally,
    by taking mean and deviation of the means of the data sets.
    """
    return summarise_grid(collect(rows, metric=metric), over=over)


def summarise_grid(grid: Grid, *, over: str = "series") -> list[Summary]:
    """Return a summary of every line of a grid."""
    if over not in OVER:
        raise ConfigError(f"over must be one of {', '.join(OVER)}, got {over!r}")
    result = []
    for name, values, failed in zip(grid.names, grid.values, grid.failed, strict=True):
        present = ~np.isnan(values)
        means = dataset_means(values, datasets=grid.datasets)
        sample = values[present] if over == "series" else np.array(list(means.values()))
        result.append(
            Summary(
                name=name,
                mean=float(sample.mean()) if sample.size else math.nan,
                std=float(sample.std(ddof=1)) if sample.size > 1 else math.nan,
                series=int(present.sum()),
                datasets=len(means),
                missing=int((~present).sum()),
                failed=failed,
            )
        )
    return result


def dataset_means(values: FloatArray, *, datasets: Sequence[str]) -> dict[str, float]:
    """Return the mean of every data set that has a value, by its name."""
    of = np.array(datasets)
    present = ~np.isnan(values)
    return {str(d): float(values[present & (of == d)].mean()) for d in np.unique(of[present])}


def mean_difference(grid: Grid, name: str, reference: str) -> float:
    """Return a line's mean difference to the reference on the series both have, or NaN."""
    if name not in grid.names or reference not in grid.names:
        return math.nan
    deltas = _deltas(grid, name, reference)
    return float(deltas.mean()) if deltas.size else math.nan


def _deltas(grid: Grid, name: str, reference: str) -> FloatArray:
    """Return the differences to the reference on the series that both have a value for."""
    deltas = grid.of(name) - grid.of(reference)
    return deltas[~np.isnan(deltas)]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A baseline against the reference, as in the paper's Tables S3 and S4.

    ``wins`` counts the series on which the baseline is strictly better, ``losses`` those on which
    the reference is, ``left_out`` those that one of the two lacks. Deltas are baseline minus
    reference. ``p_value`` is Wilcoxon's, ``p_holm`` the same after Holm's correction over all
    baselines; ``low`` and ``high`` bound the mean delta (95 %, percentile bootstrap). With fewer
    than two series in common all of these are NaN.
    """

    baseline: str
    reference: str
    series: int
    left_out: int
    wins: int
    losses: int
    ties: int
    mean_delta: float = math.nan
    median_delta: float = math.nan
    p_value: float = math.nan
    p_holm: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def win_rate(self) -> float:
        """The baseline's wins per series; ties count for neither side."""
        return self.wins / self.series if self.series else math.nan


def compare(rows: Iterable[Row], *, reference: str, metric: str = "VUS-PR") -> list[Comparison]:
    """Return every other line compared with the reference, the strongest first."""
    grid = collect(rows, metric=metric)
    reference = find_name(reference, grid.names)
    others = [name for name in grid.names if name != reference]
    if not others:
        raise InputError(f"there is nothing to compare {reference} with; it is the only detector")
    found = [_compare(grid, name, reference) for name in others]
    tested = [c for c in found if not math.isnan(c.p_value)]
    if not tested:
        raise InputError(
            f"a paired comparison needs 2 series or more that {reference} and another detector "
            f"both finished, got {max(c.series for c in found)}"
        )
    corrected = holm([c.p_value for c in tested])
    by_name = {c.baseline: p for c, p in zip(tested, corrected, strict=True)}
    found = [replace(c, p_holm=by_name.get(c.baseline, math.nan)) for c in found]
    return sorted(found, key=lambda c: (math.isnan(c.mean_delta), -c.mean_delta, c.baseline))


def _compare(grid: Grid, baseline: str, reference: str) -> Comparison:
    deltas = _deltas(grid, baseline, reference)
    counted = Comparison(
        baseline=baseline,
        reference=reference,
        series=deltas.size,
        left_out=len(grid.series) - deltas.size,
        wins=int((deltas > 0).sum()),
        losses=int((deltas < 0).sum()),
        ties=int((deltas == 0).sum()),
    )
    if deltas.size < 2:
        return counted
    low, high = bootstrap_interval(deltas)
    return replace(
        counted,
        mean_delta=float(deltas.mean()),
        median_delta=float(np.median(deltas)),
        p_value=wilcoxon_p(deltas),
        low=low,
        high=high,
    )


def wilcoxon_p(differences: ArrayLike) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; 1 if all differences are zero.

    Zeros are dropped and ties share their mean rank, as scipy does by default.
    """
    given = np.asarray(differences, dtype=np.float64).ravel()
    if not given.size or not np.isfinite(given).all():
        raise InputError("a Wilcoxon test needs at least one difference, all of them finite")
    return float(load_scipy_stats().wilcoxon(given).pvalue) if given.any() else 1.0


def bootstrap_interval(
    values: ArrayLike, *, statistic: Callable[..., Any] = np.mean, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of a statistic, by default the mean."""
    sample = np.asarray(values, dtype=np.float64).ravel()
    if sample.size < 2:
        raise InputError(f"a bootstrap needs 2 values or more, got {sample.size}")
    found = load_scipy_stats().bootstrap(
        (sample,), statistic, n_resamples=resamples, batch=max(1, _BATCH // sample.size),
        vectorized=True, method="percentile", rng=np.random.default_rng(0),
    )  # fmt: skip
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for multiple tests by Holm's step-down rule, in the given order.

    >>> [round(p, 4) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in result]
