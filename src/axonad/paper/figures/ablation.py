"""The ablation figure: what every change costs, in the paper and here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import paper_ablation
from axonad.paper.tables.ablation import BASE, LINE_LABELS, MEANINGS
from axonad.report.drawing import BLUE, GREEN, ORANGE, new_figure, save_figure, trim_axis
from axonad.report.results_grid import describe
from axonad.report.statistics import compare

METRIC = "VUS-PR"
LOOKS = {"both": (GREEN, "o", 0.0), "run": (BLUE, "s", 0.0), "text": (ORANGE, "^", 0.25)}


def draw_ablation(path: Path, *, rows: Iterable[Row]) -> None:
    """Draw the mean difference to base for every line of the paper's table, with 95 % intervals."""
    rows = list(rows)
    if BASE not in {row.label for row in rows}:
        raise InputError(f"the figure shows differences to {BASE}, but no row is of {BASE}")
    found = {pair.baseline: pair for pair in compare(rows, reference=BASE, metric=METRIC)}
    lines = [name for name in MEANINGS if name != "Base" and set(MEANINGS[name]) & set(found)]
    if not lines:
        raise InputError(f"nothing to draw: beside {BASE} there are no rows of the paper's lines")
    published = paper_ablation()
    size = (8, 1.6 + 0.36 * len(lines))
    figure, axis = new_figure(path, figsize=size)
    for kind, (color, marker, shift) in LOOKS.items():
        labels = [(y + shift, getattr(MEANINGS[name], kind)) for y, name in enumerate(lines)]
        shown = [(y, found[label]) for y, label in labels if label in found]
        for y, pair in shown:
            axis.plot([pair.low, pair.high], [y, y], color=color, alpha=0.4)
        if shown:
            axis.plot(
                [pair.mean_delta for _, pair in shown], [y for y, _ in shown],
                marker, color=color, markersize=6, label=LINE_LABELS[kind],
            )  # fmt: skip
    base = published["Base"][METRIC].mean
    axis.plot(
        [published[name][METRIC].mean - base for name in lines],
        [y - 0.25 for y in range(len(lines))],
        "D", color="black", markerfacecolor="none", markersize=6, label="paper",
    )  # fmt: skip
    axis.axvline(0, color="black", linewidth=0.7)
    axis.set_yticks(range(len(lines)), lines, fontsize=8)
    axis.set_ylim(len(lines) - 0.5, -0.6)
    axis.set_xlabel(f"mean {METRIC} minus that of base; bar: 95 %, series drawn anew", fontsize=9)
    axis.grid(axis="x", color="#e5e5e5", linewidth=0.5)
    axis.set_axisbelow(True)
    trim_axis(axis)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    figure.suptitle(describe(rows), fontsize=8)
    save_figure(figure, path)
