"""Findings by series: every measure averaged over seeds, and intervals over series."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.errors import InputError
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.measure import MEASURES
from axonad.paper.diagnostics.rules import ALONE
from axonad.report.grid import check_rows, describe

Array = NDArray[np.float64]
Statistic = Callable[..., Any]  # of an array, over an axis: np.mean, np.median
RESAMPLES = 4000
FEWEST = 3  # series to draw from


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """Every measure of every series; NaN where it does not exist."""

    series: tuple[str, ...]
    seeds: tuple[int, ...]
    values: dict[str, Array]
    setting: str

    def __getitem__(self, name: str) -> Array:
        return self.values[name]

    def better_part(self, metric: str) -> Array:
        """Return the metric of whichever part alone is better, per series."""
        return np.maximum(*(self[f"{metric} {name}"] for name in ALONE))

    def above(self, values: Array, limit: float) -> Array:
        """Return 1 where a value lies above, 0 where not, NaN where there is none."""
        return np.where(np.isfinite(values), (values > limit).astype(float), np.nan)


def gather(findings: Iterable[Finding]) -> Panel:
    """Return the measures of findings by series; refuse what must not be put together."""
    findings = list(findings)
    rows = check_rows(finding.row for finding in findings)
    if len({row.protocol for row in rows}) > 1:
        raise InputError("diagnostics are of one protocol; choose parity or causal (--protocol)")
    good = [finding for finding in findings if finding.row.is_ok]
    if not good:
        raise InputError(f"all {len(rows)} runs failed; the first said: {rows[0].reason}")
    names = sorted({(one.row.dataset, one.row.series) for one in good})
    several = [[f for f in good if (f.row.dataset, f.row.series) == name] for name in names]
    failed = len(rows) - len(good)
    return Panel(
        series=tuple(name for _, name in names),
        seeds=tuple(len(found) for found in several),
        values={m: np.array([_over_seeds(found, m) for found in several]) for m in MEASURES},
        setting=describe(rows) + (f" {failed} runs failed." if failed else ""),
    )


def mean(values: Sequence[float] | Array) -> float:
    """Return the mean of what is there; NaN without any."""
    array = np.asarray(values, dtype=np.float64)
    there = array[np.isfinite(array)]
    return float(there.mean()) if there.size else math.nan


def interval(values: Array, statistic: Statistic) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic over series, drawn anew; NaN for few."""
    sample = values[np.isfinite(values)]
    if sample.size < FEWEST:
        return math.nan, math.nan
    rng = np.random.default_rng(0)
    drawn = sample[rng.integers(sample.size, size=(RESAMPLES, sample.size))]
    low, high = np.quantile(statistic(drawn, axis=1), [0.025, 0.975])
    return float(low), float(high)


def _over_seeds(findings: Sequence[Finding], measure: str) -> float:
    return mean([finding.measures.get(measure, math.nan) for finding in findings])
