"""The split of generated streams: where training ends, where faults lie (the paper's Figure 4).

Rows name a stream by its generator, seed and length; it is made again here and must be the very
stream the rows were made on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from axonad.bench import sources
from axonad.bench.row import Row
from axonad.data.faults import KINDS, PlantedEvent
from axonad.errors import InputError
from axonad.report.figures import check_format, load_pyplot, save_figure
from axonad.report.plots import PALETTE
from axonad.report.table import Column, Line, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER: Line = ("paper's stream", 80_000, 19, 40_000, 43_410, 30, 0.089, 108, 1, 292, 2)
VALIDATION = 0.2  # of the training rows, in AxonAD and in the paper
TRAIN, TEST = "#e5f0e0", "#f6e3e0"


@dataclass(frozen=True, kw_only=True)
class Stream:
    """What of a generated stream a split is drawn from."""

    name: str
    steps: int
    channels: int
    train_steps: int
    events: tuple[PlantedEvent, ...]
    rate: float
    fingerprint: str


def streams(rows: Iterable[Row]) -> list[Stream]:
    """Return the generated streams behind rows, by name; refuse rows of other series."""
    named = {row.series: row for row in rows if row.is_ok}
    made = {name: row for name, row in named.items() if row.dataset in sources.GENERATORS}
    if not made:
        raise InputError("a split is drawn of generated streams; these rows are of none")
    found = []
    for name, row in sorted(made.items()):
        stream = _make(row.dataset, row.seed, row.steps or 0)
        if stream.fingerprint != row.fingerprint:
            raise InputError(
                f"{name} of this version (fingerprint {stream.fingerprint}) is not the stream the "
                f"rows were made on ({row.fingerprint}); run them again"
            )
        found.append(stream)
    return found


@lru_cache(maxsize=16)
def _make(kind: str, seed: int, steps: int) -> Stream:
    ref = sources.find({"source": kind, "steps": steps}, seeds=[seed])[0]
    subject = sources.load(ref)
    return Stream(
        name=ref.name,
        steps=len(subject.values),
        channels=subject.values.shape[1],
        train_steps=subject.train_steps,
        events=subject.events,
        rate=float(subject.labels[subject.train_steps :].mean()),
        fingerprint=subject.fingerprint,
    )


def split_table(rows: Iterable[Row]) -> Table:
    """Return length, split and faults of every stream under those of the paper's."""
    counts = (
        "steps", "channels", "training steps", "first anomaly", "intervals", "rate in test",
        "median length", "shortest", "longest", "median channels",
    )  # fmt: skip
    return Table(
        title="The streams: the paper's and ours",
        columns=(
            Column(heading="stream", style="text"),
            *(
                Column(heading=h, style="number" if h == "rate in test" else "count")
                for h in counts
            ),
        ),
        rows=(PAPER, *(_line(stream) for stream in streams(rows))),
        notes=(f"Validation: the last {VALIDATION:.0%} of the training steps.",),
    )


def _line(stream: Stream) -> Line:
    lengths = np.array([event.end - event.start for event in stream.events])
    struck = np.median([len(event.channels) for event in stream.events])
    return (
        stream.name, stream.steps, stream.channels, stream.train_steps,
        min(event.start for event in stream.events), len(stream.events), stream.rate,
        float(np.median(lengths)), int(lengths.min()), int(lengths.max()), float(struck),
    )  # fmt: skip


def draw_split(path: Path, rows: Iterable[Row]) -> None:
    """Draw train, validation and test of every stream on one axis, and its faults by kind."""
    check_format(path)
    found = streams(rows)
    plt = load_pyplot()
    figure, axes = plt.subplots(
        len(found), 1, sharex=True, squeeze=False, figsize=(10, 1.0 + 0.85 * len(found)),
        layout="constrained",
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
    first = min(event.start for event in stream.events)
    axis.text(
        end + 0.005 * stream.steps, 0.82,
        f"test: {len(stream.events)} faults, rate {stream.rate:.3f}, first at {first:,}",
        va="center", fontsize=8,
    )  # fmt: skip
    axis.set_xlim(0, stream.steps)
    axis.set_ylim(0, 1)
    axis.set_yticks([])
    axis.set_ylabel(stream.name, rotation=0, ha="right", va="center", fontsize=8)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right", "left"]].set_visible(False)
