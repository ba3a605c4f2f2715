"""How much results depend on the seed of a fit: one mean over common series per seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from axonad.bench.row import Row
from axonad.report.results_grid import FloatArray

Runs = dict[int, dict[str, float]]
"""Seed → series → value."""


def runs_by_seed(rows: Iterable[Row], *, metric: str) -> Runs:
    """Return the values of the successful rows by seed and series."""
    runs: Runs = {}
    for row in rows:
        value = row.value(metric) if row.is_ok else None
        if value is not None:
            runs.setdefault(row.seed, {})[row.series] = value
    return runs


def common_runs(values: Sequence[Runs]) -> dict[int, set[str]]:
    """Return the seeds that all of ``values`` have, each with the series to average over."""
    seeds = set.intersection(*(set(runs) for runs in values)) if values else set()
    kept = {seed: set.intersection(*(set(runs[seed]) for runs in values)) for seed in sorted(seeds)}
    if len(set().union(*kept.values())) < sum(len(series) for series in kept.values()):
        # Seeds share series, so all seeds average over the same ones. Generated series differ by
        # seed and cannot be shared.
        kept = dict.fromkeys(kept, set.intersection(*kept.values()))
    return {seed: series for seed, series in kept.items() if series}


def seed_means(runs: Runs, kept: Mapping[int, set[str]]) -> FloatArray:
    """Return the mean over series for every seed."""
    return np.array(
        [np.mean([runs[seed][name] for name in sorted(series)]) for seed, series in kept.items()]
    )
