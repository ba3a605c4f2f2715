"""How much quality depends on one parameter: curves over its values, with a spread over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import paper_sensitivity
from axonad.report.quality import SERIES
from axonad.report.results_grid import check_rows, describe
from axonad.report.seeds import Runs, common_runs, runs_by_seed, seed_means
from axonad.report.table import Cell, Column, Line, Table

BASE = "base"
SWEPT = {
    "horizon": "forecast horizon s",
    "tail": "tail length k",
    "window": "window length T",
}
METRICS = ("AUC-PR", "VUS-PR", "Range-F1")
"""The metrics of the paper's figure."""


class Point(NamedTuple):
    """A metric at one parameter value: mean and deviation over seeds of means over series."""

    value: int
    mean: float
    std: float
    series: int
    seeds: int


def sensitivity(rows: Iterable[Row], *, parameter: str, metric: str) -> list[Point]:
    """Return the curve of a metric over a parameter; empty if it has fewer than two values.

    The rows labelled ``base`` and ``<parameter>-<value>`` belong to it. All points average the same
    runs: the seeds that every value has, and of those the series that every value has.
    """
    by_value: dict[int, list[Row]] = {}
    for row in check_rows(rows):
        if row.label == BASE or row.label.startswith(f"{parameter}-"):
            by_value.setdefault(int(row.params[parameter]), []).append(row)
    found = {value: runs_by_seed(same, metric=metric) for value, same in by_value.items()}
    kept = common_runs(list(found.values()))
    if len(found) < 2 or not kept:
        return []
    return [_point(value, found[value], kept) for value in sorted(found)]


def _point(value: int, runs: Runs, kept: Mapping[int, set[str]]) -> Point:
    means = seed_means(runs, kept)
    std = float(means.std(ddof=1)) if means.size > 1 else math.nan
    series = len(set.union(*kept.values()))
    return Point(value, float(means.mean()), std, series, means.size)


def sensitivity_curves(rows: Iterable[Row]) -> dict[str, dict[str, list[Point]]]:
    """Return parameter → metric → curve for every parameter that has one."""
    rows = list(rows)
    curves = {p: {m: sensitivity(rows, parameter=p, metric=m) for m in METRICS} for p in SWEPT}
    found = {p: by_metric for p, by_metric in curves.items() if by_metric[METRICS[0]]}
    if not found:
        raise InputError("the rows give no curve: no parameter has two values on common series")
    return found


def sensitivity_table(rows: Iterable[Row]) -> Table:
    """Return the points of every curve as lines, the paper's values beside ours."""
    rows = list(rows)
    published = paper_sensitivity()
    lines: list[Line] = []
    for parameter, curves in sensitivity_curves(rows).items():
        for points in zip(*curves.values(), strict=False):
            value = points[0].value
            cells: list[Cell | float | None] = []
            for metric, point in zip(METRICS, points, strict=True):
                paper = published.get((parameter, value), {}).get(metric)
                cells += [Cell(point.mean, (point.std,)), paper]
            lines.append((SWEPT[parameter], value, *cells, points[0].series, points[0].seeds))
    pairs = [
        column
        for metric in METRICS
        for column in (Column(heading=metric, style="spread"), Column(heading=f"{metric}, paper"))
    ]
    return Table(
        title="Sensitivity: mean over series, ± standard deviation over seeds",
        columns=(
            Column(heading="parameter", style="text"), Column(heading="value", style="count"),
            *pairs, SERIES, Column(heading="seeds", style="count"),
        ),
        rows=tuple(lines),
        notes=(describe(rows), "Seeds and series that every value of the parameter has."),
    )  # fmt: skip
