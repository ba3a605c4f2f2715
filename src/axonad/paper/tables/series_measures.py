"""Diagnostic measures by series: averaged over seeds, with intervals over series."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from axonad.errors import InputError
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.rules import ALONE
from axonad.report.results_grid import FloatArray, check_rows, describe
from axonad.report.statistics import bootstrap_interval

Statistic = Callable[..., Any]  # called as statistic(array, axis=...): np.mean, np.median
RESAMPLES = 4000
MIN_SERIES = 3  # fewer give no interval


@dataclass(frozen=True, kw_only=True, eq=False)
class SeriesMeasures:
    """Every measure as an array over series; NaN where a series has no value."""

    series: tuple[str, ...]
    seeds: tuple[int, ...]
    values: dict[str, FloatArray]
    setting: str

    def __getitem__(self, name: str) -> FloatArray:
        return self.values[name]

    def better_part(self, metric: str) -> FloatArray:
        """Return the metric of the better single part, per series."""
        return np.maximum(*(self[f"{metric} {name}"] for name in ALONE))


def exceeds(values: FloatArray, limit: float) -> FloatArray:
    """Return 1 where a value is above the limit, 0 where it is not, NaN where there is none."""
    return np.where(np.isfinite(values), (values > limit).astype(float), np.nan)


def gather(findings: Iterable[Finding]) -> SeriesMeasures:
    """Return the measures of findings by series; raise if they must not be averaged."""
    findings = list(findings)
    rows = check_rows(finding.row for finding in findings)
    if len({row.protocol for row in rows}) > 1:
        raise InputError("the findings mix protocols; choose one (--protocol)")
    good = [finding for finding in findings if finding.row.is_ok]
    if not good:
        raise InputError(f"all {len(rows)} runs failed; the first said: {rows[0].reason}")
    names = sorted({(one.row.dataset, one.row.series) for one in good})
    grouped = [[f for f in good if (f.row.dataset, f.row.series) == name] for name in names]
    failed = len(rows) - len(good)
    return SeriesMeasures(
        series=tuple(name for _, name in names),
        seeds=tuple(len(found) for found in grouped),
        values={
            name: np.array([mean([f.measures.get(name, math.nan) for f in g]) for g in grouped])
            for name in good[0].names
        },
        setting=describe(rows) + (f" {failed} runs failed." if failed else ""),
    )


def mean(values: Sequence[float] | FloatArray) -> float:
    """Return the mean of the finite values, NaN if there are none."""
    array = np.asarray(values, dtype=np.float64)
    finite = array[np.isfinite(array)]
    return float(finite.mean()) if finite.size else math.nan


def interval(values: FloatArray, statistic: Statistic) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a statistic over series; NaN for too few series."""
    sample = values[np.isfinite(values)]
    if sample.size < MIN_SERIES:
        return math.nan, math.nan
    return bootstrap_interval(sample, statistic=statistic, resamples=RESAMPLES)
