"""The split figure (the paper's Figure 4): where training ends and where the faults lie."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from axonad.bench.row import Row
from axonad.data.faults import KINDS
from axonad.paper.tables.split import VALIDATION, Stream, streams
from axonad.report.drawing import PALETTE, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRAIN, TEST = "#e5f0e0", "#f6e3e0"


def draw_split(path: Path, rows: Iterable[Row]) -> None:
    """Draw the train, validation and test range of every stream, and its faults by kind."""
    found = streams(rows)
    figure, axes = new_figure(
        path, len(found), 1, sharex=True, squeeze=False, figsize=(10, 1.0 + 0.85 * len(found)),
    )  # fmt: skip
    for axis, stream in zip(axes[:, 0], found, strict=True):
        _draw_stream(axis, stream)
    axes[-1, 0].set_xlabel("step", fontsize=9)
    handles = {
        text: handle
        for axis in axes[:, 0]
        for handle, text in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles, loc="outside lower center", ncols=6, fontsize=8, frameon=False
    )
    figure.suptitle("Split and faults of the streams", fontsize=10)
    save_figure(figure, path)


def _draw_stream(axis: Axes, stream: Stream) -> None:
    end = stream.train_steps
    start = end - round(VALIDATION * end)
    axis.axvspan(0, end, color=TRAIN, linewidth=0)
    axis.axvspan(end, stream.steps, color=TEST, linewidth=0)
    axis.plot([start, end], [0.5, 0.5], "|-", color=PALETTE[0], markersize=9, linewidth=1.2)
    for text, place, height in (
        ("train (nominal)", start / 2, 0.5),
        ("validation", (start + end) / 2, 0.78),
    ):
        axis.text(place, height, text, ha="center", va="center", fontsize=8)
    for kind, color in zip(KINDS, PALETTE[1:], strict=False):
        spans = [(e.start, e.end - e.start) for e in stream.events if e.kind == kind]
        if spans:
            axis.broken_barh(
                spans, (0.0, 0.62), facecolor=color, edgecolor=color, linewidth=0.8,
                label=kind.replace("_", " "),
            )  # fmt: skip
    axis.text(
        end + 0.005 * stream.steps, 0.82,
        f"test: {len(stream.events)} faults, rate {stream.rate:.3f}, "
        f"first at {stream.first_anomaly:,}",
        va="center", fontsize=8,
    )  # fmt: skip
    axis.set_xlim(0, stream.steps)
    axis.set_ylim(0, 1)
    axis.set_yticks([])
    axis.set_ylabel(stream.name, rotation=0, ha="right", va="center", fontsize=8)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right", "left"]].set_visible(False)
