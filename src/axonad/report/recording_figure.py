"""The figure of ``axonad inspect``: the channels of a recording on its raster."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from axonad.data.readers.about import About
from axonad.data.series import Series
from axonad.data.timing import find_runs
from axonad.report import drawing
from axonad.report.drawing import new_figure, save_figure, trim_axis
from axonad.report.times import TimeAxis

MOST = 24  # channels drawn
POINTS = 20_000  # drawn per channel


def draw_recording(path: Path, series: Series, about: About) -> None:
    """Draw the first channels of a series below each other; missing values are shaded."""
    shown = series.channels[:MOST]
    figure, grid = new_figure(
        path, len(shown), 1, sharex=True, figsize=(12, 0.8 * len(shown) + 1.2), squeeze=False
    )
    axes = list(grid[:, 0])
    step = -(-len(series) // POINTS)
    times = None if series.times is None else series.times[::step]
    values = series.values[::step]
    time = TimeAxis.of(times, len(values))
    units = series.units or ("",) * len(series.channels)
    for i, (axis, name) in enumerate(zip(axes, shown, strict=True)):
        axis.plot(time.x, values[:, i], color=drawing.CHANNEL, linewidth=0.6)
        label = f"{name}\n[{units[i]}]" if units[i] else name
        axis.set_ylabel(label, rotation=0, ha="right", va="center", fontsize=8)
        trim_axis(axis, labelsize=7)
        for start, end in find_runs(np.isnan(values[:, i])):
            axis.axvspan(*time.span(start, end), color=drawing.UNUSABLE, linewidth=0, zorder=0.5)
    time.label_axis(axes[-1])
    more = f", {MOST} of {len(series.channels)} channels" if len(series.channels) > MOST else ""
    every = f", every {step}th row" if step > 1 else ""
    left = len(about.channels) - len(about.used)
    out = f", {left} channels left out" if left else ""
    figure.suptitle(f"{series.name}: {about.rows} rows{every}{more}{out}", fontsize=11)
    save_figure(figure, path)
