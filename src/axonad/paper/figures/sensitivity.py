"""The sensitivity figure: one panel per parameter, one curve per metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from axonad.bench.row import Row
from axonad.paper.published import paper_sensitivity
from axonad.paper.tables.sensitivity import METRICS, SWEPT, Point, sensitivity_curves
from axonad.report.drawing import MARKERS, PALETTE, new_figure, save_figure, trim_axis
from axonad.report.results_grid import describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_sensitivity(path: Path, *, rows: Iterable[Row]) -> None:
    """Draw a panel per parameter: our means with a band of one deviation, the paper's dashed."""
    rows = list(rows)
    panels = sensitivity_curves(rows)
    figure, axes = new_figure(
        path, 1, len(panels), sharey=True, squeeze=False, figsize=(3.6 * len(panels), 3.6),
    )  # fmt: skip
    for axis, (parameter, curves) in zip(axes[0], panels.items(), strict=True):
        _draw_panel(axis, parameter, curves)
    axes[0, 0].set_ylabel("mean over series", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    figure.suptitle(f"Band: one standard deviation over seeds. {describe(rows)}", fontsize=8)
    save_figure(figure, path)


def _draw_panel(axis: Axes, parameter: str, curves: Mapping[str, list[Point]]) -> None:
    published = paper_sensitivity()
    for metric, color, marker in zip(METRICS, PALETTE, MARKERS, strict=False):
        x = [point.value for point in curves[metric]]
        mean = np.array([point.mean for point in curves[metric]])
        band = np.nan_to_num(np.array([point.std for point in curves[metric]]))
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
    trim_axis(axis)
