"""The runtime figure: our times, and ratios to AxonAD beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from axonad.bench.row import Row
from axonad.paper.published import Times, paper_runtime
from axonad.paper.tables.runtime import our_times
from axonad.paper.tables.scores import OURS
from axonad.report.costs import explain
from axonad.report.drawing import BLUE, ORANGE, new_figure, save_figure, trim_axis
from axonad.report.results_grid import FloatArray, check_rows, describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_paper_runtime(path: Path, rows: Iterable[Row]) -> None:
    """Draw our seconds and milliseconds per window, and ratios to AxonAD beside the paper's."""
    kept = check_rows(rows)
    ours = our_times(kept)
    names = list(ours)
    figure, axes = new_figure(path, 1, 3, sharey=True, figsize=(11, 1.9 + 0.36 * len(names)))
    y = np.arange(len(names))
    fit, score, milliseconds = np.array(list(ours.values())).T
    axes[0].barh(y, fit, color=BLUE, height=0.6, label="fit")
    axes[0].barh(y, score, left=fit, color=ORANGE, height=0.6, label="score all windows")
    axes[0].set_xlabel("end to end time (s)", fontsize=9)
    axes[1].barh(y, milliseconds, color=ORANGE, height=0.6)
    axes[1].set_xlabel("scoring latency (ms per window)", fontsize=9)
    axes[1].locator_params(axis="x", nbins=5)
    _write_values(axes[0], fit + score, "{:.1f}")
    _write_values(axes[1], milliseconds, "{:.4f}")
    _draw_ratios(axes[2], names, ours, "ours")
    _draw_ratios(axes[2], names, paper_runtime(), "paper")
    axes[0].set_yticks(y, names, fontsize=8)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    for axis in axes:
        trim_axis(axis)
    figure.legend(loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    figure.suptitle(f"Runtime. {describe(kept)}\n{' '.join(explain(kept)[1:])}", fontsize=9)
    save_figure(figure, path)


def _draw_ratios(axis: Axes, names: Sequence[str], found: Mapping[str, Times], whose: str) -> None:
    """Draw total time (circle) and latency (diamond) as multiples of AxonAD's."""
    color, face = (BLUE, BLUE) if whose == "ours" else ("black", "none")
    known = [(y, found[name]) for y, name in enumerate(names) if name in found]
    for label, field, marker, shift in (
        ("end to end", "total_seconds", "o", -0.13),
        ("latency", "milliseconds", "D", 0.13),
    ):
        axis.plot(
            [getattr(time, field) / getattr(found[OURS], field) for _, time in known],
            [y + shift for y, _ in known],
            marker, color=color, markerfacecolor=face, markersize=6, label=f"{label}, {whose}",
        )  # fmt: skip
    axis.axvline(1, color="#999999", linewidth=0.8, linestyle="--")
    axis.set_xscale("log")
    axis.set_xlabel(f"time / {OURS}'s", fontsize=9)


def _write_values(axis: Axes, values: FloatArray, form: str) -> None:
    for place, value in enumerate(values.tolist()):
        axis.text(value, place, f" {form.format(value)}", va="center", fontsize=7)
    axis.set_xlim(0, 1.2 * float(values.max()))
