"""How much quality depends on one parameter: curves over its values, with a band over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import paper_sensitivity
from axonad.report.figures import check_format, load_pyplot, save_figure
from axonad.report.grid import check_rows, describe
from axonad.report.plots import MARKERS, PALETTE
from axonad.report.seeds import Runs, common_runs, seed_means
from axonad.report.table import Cell, Column, Line, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASE = "base"
SWEPT = {
    "horizon": "forecast horizon s",
    "tail": "tail length k",
    "window": "window length T",
}
METRICS = ("AUC-PR", "VUS-PR", "Range-F1")
"""What the paper's figure shows."""


class Point(NamedTuple):
    """A metric at one value of a parameter: mean and deviation over seeds of means over series."""

    value: int
    mean: float
    std: float
    series: int
    seeds: int


def sensitivity(rows: Iterable[Row], *, parameter: str, metric: str) -> list[Point]:
    """Return the curve of a metric over a parameter, by its values; empty where there is none.

    Rows labelled ``base`` and ``<parameter>-<value>`` belong to it. All means are over the same
    runs: seeds that every value has, and of their series those that every value has.
    """
    found: dict[int, Runs] = {}
    for row in check_rows(rows):
        if row.label != BASE and not row.label.startswith(f"{parameter}-"):
            continue
        runs = found.setdefault(int(row.params[parameter]), {})
        number = row.value(metric) if row.is_ok else None
        if number is not None:
            runs.setdefault(row.seed, {})[row.series] = number
    kept = common_runs(list(found.values()))
    if len(found) < 2 or not kept:
        return []
    return [_point(value, found[value], kept) for value in sorted(found)]


def _point(value: int, runs: Runs, kept: Mapping[int, set[str]]) -> Point:
    means = seed_means(runs, kept)
    std = float(means.std(ddof=1)) if means.size > 1 else math.nan
    series = len(set.union(*kept.values()))
    return Point(value, float(means.mean()), std, series, means.size)


def sensitivity_table(rows: Iterable[Row]) -> Table:
    """Return every curve as lines, the paper's values beside ours."""
    rows = list(rows)
    published = paper_sensitivity()
    lines: list[Line] = []
    for parameter, text in SWEPT.items():
        curves = [sensitivity(rows, parameter=parameter, metric=metric) for metric in METRICS]
        for points in zip(*curves, strict=False):
            value = points[0].value
            line: list[Cell | str | float | None] = [text, value]
            for metric, point in zip(METRICS, points, strict=True):
                paper = published.get((parameter, value), {}).get(metric)
                line += [Cell(point.mean, (point.std,)), paper]
            lines.append((*line, points[0].series, points[0].seeds))
    if not lines:
        raise InputError("the rows give no curve: no parameter has two values on common series")
    pairs = [
        column
        for metric in METRICS
        for column in (Column(heading=metric, style="spread"), Column(heading=f"{metric}, paper"))
    ]
    return Table(
        title="Sensitivity: mean over series, ± standard deviation over seeds",
        columns=(
            Column(heading="parameter", style="text"), Column(heading="value", style="count"),
            *pairs,
            Column(heading="series", style="count"), Column(heading="seeds", style="count"),
        ),
        rows=tuple(lines),
        notes=(describe(rows), "Seeds and series that every value of the parameter has."),
    )  # fmt: skip


def draw_sensitivity(path: Path, *, rows: Iterable[Row]) -> None:
    """Draw a panel per parameter: our means with a band of one deviation, the paper's dashed."""
    check_format(path)
    rows = list(rows)
    panels = {
        parameter: curves
        for parameter in SWEPT
        if (curves := {m: sensitivity(rows, parameter=parameter, metric=m) for m in METRICS})[
            METRICS[0]
        ]
    }
    if not panels:
        raise InputError("the rows give no curve: no parameter has two values on common series")
    plt = load_pyplot()
    figure, axes = plt.subplots(
        1, len(panels), sharey=True, squeeze=False, figsize=(3.6 * len(panels), 3.6),
        layout="constrained",
    )  # fmt: skip
    for axis, (parameter, curves) in zip(axes[0], panels.items(), strict=True):
        _draw_panel(axis, parameter, curves)
    axes[0, 0].set_ylabel("mean over series", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    figure.suptitle(f"Band: one standard deviation over seeds. {describe(rows)}", fontsize=8)
    save_figure(figure, path)


def _draw_panel(axis: Axes, parameter: str, curves: dict[str, list[Point]]) -> None:
    published = paper_sensitivity()
    for metric, color, marker in zip(METRICS, PALETTE, MARKERS, strict=False):
        points = curves[metric]
        x = [point.value for point in points]
        mean = np.array([point.mean for point in points])
        band = np.nan_to_num(np.array([point.std for point in points]))
        axis.plot(x, mean, marker=marker, markersize=5, color=color, label=metric)
        axis.fill_between(x, mean - band, mean + band, color=color, alpha=0.2, linewidth=0)
        theirs = {v: found[metric] for (name, v), found in published.items() if name == parameter}
        if theirs:
            axis.plot(
                list(theirs), list(theirs.values()), marker=marker, markersize=4, color=color,
                linestyle="--", linewidth=0.9, markerfacecolor="white", label=f"{metric}, paper",
            )  # fmt: skip
    axis.set_xticks(x)
    axis.set_xlabel(SWEPT[parameter], fontsize=9)
    axis.grid(color="#dddddd", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)
