"""The figure of a fleet: the score of every vehicle over time, its events as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.event import SEVERITIES
from axonad.errors import InputError
from axonad.report import drawing
from axonad.report.drawing import new_figure, save_figure, trim_axis
from axonad.report.times import TimeAxis
from axonad.threshold import Event

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TALLEST = 1.9  # height of a lane in thresholds; higher scores are cut off


@dataclass(frozen=True, kw_only=True)
class VehicleScores:
    """Scores of one vehicle and the events they gave; ``times`` are those of its rows."""

    scores: NDArray[np.float64]
    events: Sequence[Event] = ()
    times: NDArray[Any] | None = None


def draw_fleet(
    path: Path, vehicles: Mapping[str, VehicleScores], *, threshold: float, title: str = ""
) -> None:
    """Draw one lane per vehicle, in the order given, to PNG, SVG or PDF.

    All lanes have the same scale, in which the threshold is the dashed line. Bars are events,
    darker and thicker the more severe they are; beside a vehicle is the number of its events.
    """
    if not vehicles:
        raise InputError("a fleet needs at least one vehicle to draw, got none")
    figure, grid = new_figure(
        path, len(vehicles), 1, sharex=True, sharey=True, squeeze=False,
        figsize=(11, 0.62 * len(vehicles) + 1.2),
    )  # fmt: skip
    low = min(float(np.nanmin(one.scores)) for one in vehicles.values())
    for axis, (name, one) in zip(grid[:, 0], vehicles.items(), strict=True):
        time = TimeAxis.of(one.times, len(one.scores))
        _draw_lane(axis, time, one, threshold)
        axis.set_ylim(min(low, 0.0), TALLEST * threshold)
        axis.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=9)
        count = len(one.events)
        axis.text(
            1.01, 0.5, f"{count} event{'' if count == 1 else 's'}" if count else "–",
            transform=axis.transAxes, va="center", fontsize=8, color="#555555",
        )  # fmt: skip
    time.label_axis(grid[-1, 0])
    _add_legend(figure, grid[:, 0])
    if title:
        figure.suptitle(title.replace("$", r"\$"), fontsize=11)
    save_figure(figure, path)


def _draw_lane(axis: Axes, time: TimeAxis, one: VehicleScores, threshold: float) -> None:
    trim_axis(axis, labelsize=7)
    axis.spines["left"].set_visible(False)
    axis.spines["bottom"].set_color(drawing.GRAY)
    axis.tick_params(axis="x", length=2, color=drawing.GRAY)
    axis.set_yticks([])
    axis.plot(*time.curve(one.scores), color=drawing.SCORE, linewidth=0.6, label="score")
    axis.axhline(threshold, color=drawing.THRESHOLD, linestyle="--", lw=0.7, label="threshold")
    for event in one.events:
        severity = getattr(event, "severity", "alarm")
        place = SEVERITIES.index(severity)
        for left, right in time.spans(event.start, event.end):
            axis.axvspan(left, right, color=drawing.SEVERITY[severity], alpha=0.15, lw=0, zorder=0)
            axis.plot(  # the cap keeps a short event visible
                [left, right], [0.97, 0.97], color=drawing.SEVERITY[severity],
                linewidth=3 + 2 * place, solid_capstyle="projecting", clip_on=False,
                transform=axis.get_xaxis_transform(), label=f"event: {severity}", zorder=3 + place,
            )  # fmt: skip


def _add_legend(figure: Any, axes: Sequence[Axes]) -> None:
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(
        entries.values(), entries, loc="outside lower center", ncols=len(entries), fontsize=8,
        frameon=False,
    )  # fmt: skip
