"""The transfer figure: both distances of every data set, with the target marked."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from axonad.paper.transfer.check import Transfer
from axonad.report.drawing import PALETTE, RED, new_figure, save_figure


def draw_transfer(path: Path, *, found: Transfer, among: str) -> None:
    """Draw both distances of every data set, sorted, with the target marked."""
    figure, axes = new_figure(path, 1, 2, figsize=(9, 3.6))
    measures = (
        ("Mahalanobis distance, leave one out", "mahalanobis", found.mahalanobis_percentile),
        ("distance to the nearest neighbour", "neighbour_distance", found.neighbour_percentile),
    )
    for axis, (text, name, percentile) in zip(axes, measures, strict=True):
        places = sorted(found.ranking, key=lambda place: float(getattr(place, name)))
        values = np.array([getattr(place, name) for place in places])
        target = [place.name for place in places].index(found.target)
        axis.plot(values, np.arange(len(values)), "o", color=PALETTE[6], markersize=4)
        axis.plot(values[target], target, "D", color=RED, markersize=8)
        axis.annotate(
            f"{found.target}\npercentile {percentile:.0f}", (values[target], target),
            xytext=(8, -4), textcoords="offset points", fontsize=8, va="top",
        )  # fmt: skip
        axis.set_xlim(0, 1.35 * float(values.max()))
        axis.set_xlabel(text, fontsize=9)
        axis.set_ylabel("place, ordinary to strange", fontsize=9)
    figure.suptitle(f"{found.target} among {len(found.ranking) - 1} of {among}", fontsize=10)
    save_figure(figure, path)
