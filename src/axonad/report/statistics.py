"""Statistics of rows: means over series and data sets, paired comparisons, Holm's correction.

All are pure functions of rows. A gap is left out and counted; nothing is filled in. Higher is
better for every metric compared here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from axonad.bench.row import Row
from axonad.errors import ConfigError, InputError
from axonad.report.grid import Grid, collect, find_name
from axonad.report.wilcoxon import wilcoxon_p

FloatArray = NDArray[np.float64]
OVER = ("series", "datasets")
_BATCH = 1_000_000  # numbers drawn at once: bounds the memory of the bootstrap


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Mean and sample standard deviation of a line, and how much of it is missing.

    ``series`` is the number of series with a value, ``datasets`` the number of data sets they
    belong to, ``missing`` the number of series other lines were run on and this one has no value
    for, ``failed`` the number of its runs that failed. Without a value the mean is NaN; with
    fewer than two, the deviation is.
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
    """Return a summary of every line, by name.

    ``over="series"`` gives every series the same weight, ``over="datasets"`` every data set: the
    mean (and deviation) of the means of the data sets.
    """
    return summarise_grid(collect(rows, metric=metric), over=over)


def summarise_grid(grid: Grid, *, over: str = "series") -> list[Summary]:
    """Return a summary of every line of a grid."""
    if over not in OVER:
        raise ConfigError(f"over must be one of {', '.join(OVER)}, got {over!r}")
    result = []
    for name, values, failed in zip(grid.names, grid.values, grid.failed, strict=True):
        there = ~np.isnan(values)
        means = dataset_means(values, datasets=grid.datasets)
        sample = values[there] if over == "series" else np.array(list(means.values()))
        result.append(
            Summary(
                name=name,
                mean=float(sample.mean()) if sample.size else math.nan,
                std=float(sample.std(ddof=1)) if sample.size > 1 else math.nan,
                series=int(there.sum()),
                datasets=len(means),
                missing=int((~there).sum()),
                failed=failed,
            )
        )
    return result


def dataset_means(values: FloatArray, *, datasets: Sequence[str]) -> dict[str, float]:
    """Return the mean of every data set that has a value, by name of the data set."""
    of = np.array(datasets)
    there = ~np.isnan(values)
    return {str(d): float(values[there & (of == d)].mean()) for d in np.unique(of[there])}


def mean_difference(grid: Grid, name: str, reference: str) -> float:
    """Return a line's mean difference to the reference on the series both have, or NaN."""
    if name not in grid.names or reference not in grid.names:
        return math.nan
    deltas = _pair(grid, name, reference).deltas
    return float(deltas.mean()) if deltas.size else math.nan


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two lines on the series both have; ``left_out`` counts the series one of them lacks."""

    baseline: str
    reference: str
    series: tuple[str, ...]
    baseline_values: FloatArray
    reference_values: FloatArray
    left_out: int

    @property
    def deltas(self) -> FloatArray:
        """Baseline minus reference, per series: negative where the reference is better."""
        return self.baseline_values - self.reference_values


def pair(rows: Iterable[Row], *, baseline: str, reference: str, metric: str = "VUS-PR") -> Pair:
    """Return two lines side by side on the series that both have a value for."""
    return _pair(collect(rows, metric=metric), baseline, reference)


def _pair(grid: Grid, baseline: str, reference: str) -> Pair:
    ours, theirs = grid.of(baseline), grid.of(reference)
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    return Pair(
        baseline=find_name(baseline, grid.names),
        reference=find_name(reference, grid.names),
        series=tuple(np.array(grid.series, dtype=object)[both]),
        baseline_values=ours[both],
        reference_values=theirs[both],
        left_out=int((~both).sum()),
    )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A baseline against the reference, as in the paper's tables S3 and S4.

    ``wins`` are series on which the baseline is strictly better, ``losses`` those on which the
    reference is; ties are neither. Deltas are baseline minus reference. ``p_value`` is Wilcoxon's,
    ``p_holm`` the same after Holm's correction over all baselines, ``low`` and ``high`` bound the
    mean delta (95 %, percentile bootstrap). With fewer than two series in common all are NaN.
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
        """The baseline's wins per series; a tie is no win, so two rates need not add up to 1."""
        return self.wins / self.series if self.series else math.nan


def compare(
    rows: Iterable[Row],
    *,
    reference: str,
    metric: str = "VUS-PR",
    seed: int = 0,
    resamples: int = 10_000,
) -> list[Comparison]:
    """Return every other line compared with the reference, the strongest first."""
    grid = collect(rows, metric=metric)
    reference = find_name(reference, grid.names)
    others = [name for name in grid.names if name != reference]
    if not others:
        raise InputError(f"there is nothing to compare {reference} with; it is the only detector")
    found = [_compare(_pair(grid, name, reference), seed, resamples) for name in others]
    tested = [c for c in found if not math.isnan(c.p_value)]
    if not tested:
        raise InputError(
            f"a paired comparison needs 2 series or more that {reference} and another detector "
            f"both finished, got {max(c.series for c in found)}"
        )
    corrected = dict(
        zip((c.baseline for c in tested), holm([c.p_value for c in tested]), strict=True)
    )
    found = [replace(c, p_holm=corrected.get(c.baseline, math.nan)) for c in found]
    return sorted(found, key=lambda c: (math.isnan(c.mean_delta), -c.mean_delta, c.baseline))


def _compare(both: Pair, seed: int, resamples: int) -> Comparison:
    deltas = both.deltas
    counted = Comparison(
        baseline=both.baseline,
        reference=both.reference,
        series=deltas.size,
        left_out=both.left_out,
        wins=int((deltas > 0).sum()),
        losses=int((deltas < 0).sum()),
        ties=int((deltas == 0).sum()),
    )
    if deltas.size < 2:
        return counted
    low, high = bootstrap_interval(deltas, seed=seed, resamples=resamples)
    return replace(
        counted,
        mean_delta=float(deltas.mean()),
        median_delta=float(np.median(deltas)),
        p_value=wilcoxon_p(deltas),
        low=low,
        high=high,
    )


def bootstrap_interval(
    values: ArrayLike, *, seed: int = 0, resamples: int = 10_000, level: float = 0.95
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean."""
    sample = np.asarray(values, dtype=np.float64).ravel()
    if sample.size < 2:
        raise InputError(f"a bootstrap needs 2 values or more, got {sample.size}")
    if not 0 < level < 1 or resamples < 1:
        raise ConfigError(
            f"level must lie in (0, 1) and resamples be positive, got {level} and {resamples}"
        )
    rng = np.random.default_rng(seed)
    batch = max(1, _BATCH // sample.size)
    means = np.concatenate(
        [
            sample[rng.integers(sample.size, size=(min(batch, resamples - k), sample.size))].mean(1)
            for k in range(0, resamples, batch)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for being many, by Holm's step-down rule, in the order given.

    >>> [round(p, 4) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in result]
