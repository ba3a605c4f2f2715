"""Which setting of a grid a benchmark would choose, and how far the choice can be trusted.

Series are drawn anew (bootstrap) to see how much depends on which series are in the tuning list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import paper_setting
from axonad.report.quality import PAPER_METRICS
from axonad.report.results_grid import FloatArray, check_rows, collect

TUNED = {"window": "T", "d_model": "D", "heads": "heads", "lr": "lr", "tail": "k", "horizon": "s"}
"""The parameters of the authors' grid, with the paper's symbols."""
METRIC = "VUS-PR"
METRICS = (METRIC, *(name for name in PAPER_METRICS if name != METRIC))
RESAMPLES = 10_000
BOUNDS = (2.5, 97.5)  # percentiles of a 95 % interval

Setting = tuple[float, ...]
"""The value of each parameter of ``TUNED``."""
PUBLISHED: Setting = tuple(paper_setting()[name] for name in TUNED)


def name_setting(setting: Setting) -> str:
    """Return a setting as text.

    >>> name_setting((50, 64, 4, 0.001, 3, 25))
    'T 50, D 64, 4 heads, lr 0.001, k 3, s 25'
    """
    window, width, heads, lr, tail, horizon = (f"{value:g}" for value in setting)
    return f"T {window}, D {width}, {heads} heads, lr {lr}, k {tail}, s {horizon}"


def name_parameter(name: str) -> str:
    """Return a parameter with its symbol.

    >>> name_parameter("tail"), name_parameter("lr")
    ('k (tail)', 'lr')
    """
    return name if TUNED[name] == name else f"{TUNED[name]} ({name})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Tuning:
    """The results of every setting on every series, the best setting by VUS-PR first.

    ``values`` has one array (settings, series) per metric; ``left_out`` counts the settings that
    lack a series.
    """

    settings: tuple[Setting, ...]
    series: tuple[str, ...]
    values: dict[str, FloatArray]
    left_out: int

    @property
    def published(self) -> int | None:
        """The index of the authors' setting, None if there are no results of it."""
        return self.settings.index(PUBLISHED) if PUBLISHED in self.settings else None

    def means(self, metric: str = METRIC) -> FloatArray:
        """Return the mean over series of every setting."""
        return mean_rows(self.values[metric])

    def best(self, metric: str) -> int:
        """Return the index of the setting with the highest mean."""
        return int(self.means(metric).argmax())

    def resampled(self) -> FloatArray:
        """Return the mean VUS-PR of every setting (settings, resamples), series drawn anew."""
        values, count = self.values[METRIC], len(self.series)
        drawn = np.random.default_rng(0).multinomial(count, [1 / count] * count, size=RESAMPLES)
        found: FloatArray = values @ drawn.T / count
        return found


def read_tuning(rows: Iterable[Row]) -> Tuning:
    """Return the settings that have a result on every series."""
    kept = check_rows(rows)
    if len({row.protocol for row in kept}) > 1:
        raise InputError("the rows are of several protocols; choose one with --protocol")
    settings = {row.label: _setting(row) for row in kept if row.is_ok}
    grids = {metric: collect(kept, metric=metric) for metric in METRICS}
    names, values = grids[METRIC].names, grids[METRIC].values
    used = ~np.isnan(values).all(0)
    complete = ~np.isnan(values[:, used]).any(1) & np.isin(names, list(settings))
    if complete.sum() < 2:
        raise InputError("there is nothing to choose from: fewer than two settings have all series")
    lines = np.flatnonzero(complete)
    lines = lines[np.argsort(-mean_rows(values[lines][:, used]), kind="stable")]
    return Tuning(
        settings=tuple(settings[names[line]] for line in lines),
        series=tuple(np.array(grids[METRIC].series)[used].tolist()),
        values={metric: grid.values[lines][:, used] for metric, grid in grids.items()},
        left_out=len(names) - len(lines),
    )


def _setting(row: Row) -> Setting:
    missing = [name for name in TUNED if name not in row.params]
    if missing:
        raise InputError(
            f"rows of {row.label} have no parameter {missing[0]}; they are not AxonAD's"
        )
    return tuple(row.params[name] for name in TUNED)


def mean_rows(values: FloatArray) -> FloatArray:
    """Return the mean of every row."""
    means: FloatArray = values.mean(axis=1)
    return means


def interval(values: FloatArray) -> tuple[float, float]:
    """Return the 95 % interval of resampled values."""
    low, high = np.percentile(values, BOUNDS)
    return float(low), float(high)


def ranks(means: FloatArray, index: int) -> NDArray[np.intp]:
    """Return the rank of one setting in every column (settings, resamples); 1 is the best."""
    better: NDArray[np.intp] = (means > means[index]).sum(0)
    return 1 + better


class LeftOut(NamedTuple):
    """A choice made without one series, and what it gives on that series."""

    series: str
    chosen: int
    on_series: float
    published: float
    average: float  # over all settings


def leave_one_out(tuning: Tuning) -> list[LeftOut]:
    """Return the setting chosen without each series in turn."""
    if len(tuning.series) < 2:
        raise InputError(f"leaving one series out needs two or more, got {len(tuning.series)}")
    values, known = tuning.values[METRIC], tuning.published
    found = []
    for i, name in enumerate(tuning.series):
        chosen = int(np.delete(values, i, axis=1).mean(1).argmax())
        published = math.nan if known is None else float(values[known, i])
        average = float(values[:, i].mean())
        found.append(LeftOut(name, chosen, float(values[chosen, i]), published, average))
    return found


class Effect(NamedTuple):
    """One value of one parameter, averaged over all settings that have it.

    ``to_published`` compares it with the parameter's published value, ``low`` and ``high`` bound
    that difference; all three are NaN for the published value itself. ``best`` is the share of the
    other parameters' combinations in which this value is the best.
    """

    value: float
    settings: int
    mean: float
    to_published: float
    low: float
    high: float
    best: float


def effects(tuning: Tuning) -> dict[str, list[Effect]]:
    """Return parameter → effect of each of its values, for parameters that vary."""
    table = np.array(tuning.settings)
    resampled, means = tuning.resampled(), tuning.means()
    found: dict[str, list[Effect]] = {}
    for column, name in enumerate(TUNED):
        options = np.unique(table[:, column])
        if len(options) < 2:
            continue
        has = {float(value): table[:, column] == value for value in options}
        wins = _wins(table, column, means)
        base = has.get(PUBLISHED[column])
        found[name] = []
        for value, own in has.items():
            mean, behind, low, high = float(means[own].mean()), *[math.nan] * 3
            if base is not None and value != PUBLISHED[column]:
                behind = mean - float(means[base].mean())
                low, high = interval(resampled[own].mean(0) - resampled[base].mean(0))
            share = wins.get(value, 0.0)
            found[name].append(Effect(value, int(own.sum()), mean, behind, low, high, share))
    return found


def explained(tuning: Tuning, parameter: str) -> float:
    """Return the share of the variance of the settings' means that one parameter explains."""
    column = np.array(tuning.settings)[:, list(TUNED).index(parameter)]
    means = tuning.means()
    fitted = np.zeros_like(means)
    for value in np.unique(column):
        fitted[column == value] = means[column == value].mean()
    return float(fitted.var() / means.var()) if means.var() else math.nan


def _wins(table: FloatArray, column: int, means: FloatArray) -> dict[float, float]:
    """Return how often each value of a parameter is the best, all others being equal."""
    groups: dict[Setting, dict[float, float]] = {}
    for setting, mean in zip(table, means, strict=True):
        rest = tuple(np.delete(setting, column).tolist())
        groups.setdefault(rest, {})[float(setting[column])] = float(mean)
    size = max(len(group) for group in groups.values())
    whole = [group for group in groups.values() if len(group) == size]
    best = [max(group, key=lambda value: group[value]) for group in whole]
    return {value: best.count(value) / len(best) for value in set(best)}
