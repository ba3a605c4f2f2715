"""The tuning figure: all settings of the grid in order, and the effect of each parameter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from axonad.bench.row import Row
from axonad.paper.tuning import (
    BOUNDS,
    METRIC,
    PUBLISHED,
    TUNED,
    Tuning,
    effects,
    name_parameter,
    ranks,
    read_tuning,
)
from axonad.report.drawing import BLUE, GRAY, ORANGE, new_figure, save_figure, trim_axis
from axonad.report.results_grid import describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes

JITTER = 0.14  # largest horizontal shift of a dot


def draw_tuning(path: Path, *, rows: Iterable[Row]) -> None:
    """Draw the settings by rank with 95 % intervals, and below them a panel per parameter."""
    rows = list(rows)
    tuning = read_tuning(rows)
    panels = effects(tuning)
    figure, axes = new_figure(
        path, 2, max(1, len(panels)), sharey="row", squeeze=False, figsize=(11, 7),
    )  # fmt: skip
    grid = axes[0, 0].get_gridspec()
    for axis in axes[0]:
        axis.remove()
    top = figure.add_subplot(grid[0, :])
    _draw_settings(top, tuning)
    for axis, parameter in zip(axes[1], panels, strict=False):
        _draw_parameter(axis, tuning, parameter)
    axes[1, 0].set_ylabel(f"mean {METRIC}", fontsize=9)
    top.legend(fontsize=8, frameon=False, loc="upper right")
    figure.suptitle(
        f"{describe(rows)} {len(tuning.settings)} settings, {len(tuning.series)} series.\n"
        "Below: every setting at its value, their mean, and the published value.",
        fontsize=8,
    )
    save_figure(figure, path)


def _draw_settings(axis: Axes, tuning: Tuning) -> None:
    """Draw the mean of every setting; its interval is that of the difference to the average."""
    means, resampled = tuning.means(), tuning.resampled()
    place = np.arange(1, len(means) + 1)
    low, high = np.percentile(resampled - resampled.mean(0), BOUNDS, axis=1) + means.mean()
    bars = "95 %, series drawn anew, of the difference to the mean of all settings"
    axis.vlines(place, low, high, color=GRAY, linewidth=1.5, label=bars)
    axis.axhline(means.mean(), color="black", linewidth=0.7, label="mean of all settings")
    axis.plot(place, means, "o", color=BLUE, markersize=3, label="mean over series of a setting")
    index = tuning.published
    if index is not None:
        axis.plot(
            place[index], means[index], "D", color=ORANGE, markeredgecolor="black", markersize=8,
            label=f"published setting: rank {ranks(means[:, None], index)[0]}",
        )  # fmt: skip
    axis.set_xlabel(f"settings by rank (1 to {len(means)})", fontsize=9)
    axis.set_ylabel(f"mean {METRIC}", fontsize=9)
    axis.margins(x=0.01)
    trim_axis(axis)


def _draw_parameter(axis: Axes, tuning: Tuning, parameter: str) -> None:
    """Draw every setting as a dot at its value, and the mean of each value."""
    column = list(TUNED).index(parameter)
    table, means = np.array(tuning.settings)[:, column], tuning.means()
    options = np.unique(table)
    place = np.searchsorted(options, table)
    shift = JITTER * (2 * np.random.default_rng(0).random(len(place)) - 1)
    axis.plot(place + shift, means, ".", color=GRAY, markersize=4)
    average = [means[table == value].mean() for value in options]
    axis.plot(range(len(options)), average, "-o", color=BLUE, markersize=5)
    if PUBLISHED[column] in options:
        at = int(np.searchsorted(options, PUBLISHED[column]))
        axis.plot(at, average[at], "D", color=ORANGE, markeredgecolor="black", markersize=8)
    axis.set_xticks(range(len(options)), [f"{value:g}" for value in options])
    axis.set_xlim(-0.5, len(options) - 0.5)
    axis.set_xlabel(name_parameter(parameter), fontsize=9)
    axis.grid(axis="y", color="#e5e5e5", linewidth=0.5)
    axis.set_axisbelow(True)
    trim_axis(axis)
