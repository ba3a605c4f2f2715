"""Figure of the probe: how well errors of predictors of four quantities find anomalies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from axonad.paper.diagnostics.as_run import OWN, PREDICTED
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.tables.as_run import LABELS
from axonad.paper.tables.series_measures import gather, interval, mean
from axonad.report.drawing import BLUE, GRAY, ORANGE, new_figure, save_figure, trim_axis


def draw_probe(path: Path, *, findings: Iterable[Finding]) -> None:
    """Draw the average precision of every predictor: a point per series, the mean, its interval."""
    found = gather(findings)
    figure, axis = new_figure(path, figsize=(7.5, 3.2))
    for place, name in enumerate(PREDICTED):
        values = found[f"probe AP {name}"]
        color = BLUE if name == OWN else ORANGE if name == "queries" else GRAY
        axis.plot(values, np.full(values.size, place), "o", color=color, markersize=3, alpha=0.6)
        low, high = interval(values, np.mean)
        if math.isfinite(low):
            axis.plot([low, high], [place + 0.2] * 2, color=color, linewidth=2.5, alpha=0.6)
        axis.plot(mean(values), place + 0.2, "D", color=color, markersize=6)
        axis.annotate(
            f"{mean(values):.3f}", (mean(values), place + 0.2), xytext=(0, -13),
            textcoords="offset points", fontsize=7, ha="center",
        )  # fmt: skip
    axis.set_yticks(range(len(PREDICTED)), [LABELS[name] for name in PREDICTED], fontsize=8)
    axis.set_ylim(len(PREDICTED) - 0.3, -0.5)
    axis.set_xlabel(
        "average precision of test windows; diamond: mean; bar: 95 %, series drawn anew", fontsize=9
    )
    axis.grid(axis="x", color="#e5e5e5", linewidth=0.5)
    axis.set_axisbelow(True)
    trim_axis(axis)
    figure.suptitle(f"{found.setting} {len(found.series)} series.", fontsize=8)
    save_figure(figure, path)
