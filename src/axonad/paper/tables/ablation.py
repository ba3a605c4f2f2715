"""The ablation table: the paper's lines, and beside each what ours gives.

For some lines the paper's text and the authors' published runs mean different things. Then there
are two lines of ours: what was run, and what is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import PAPER_SERIES, Spread, paper_ablation
from axonad.report.grid import Grid, collect
from axonad.report.statistics import Summary, mean_difference, summarise_grid
from axonad.report.table import Cell, Column, Line, Table
from axonad.report.tables import MISSING, PAPER_METRICS, SERIES, note_gaps

BASE = "base"


class Meaning(NamedTuple):
    """The labels in a suite that stand for a line of the paper, by what they reproduce."""

    both: str = ""
    run: str = ""
    text: str = ""


MEANINGS: dict[str, Meaning] = {
    "Base": Meaning(both=BASE),
    "Recon only": Meaning(run="recon-only-training", text="recon-only-scoring"),
    "Score MSE": Meaning(run="recon-only-scoring", text="query-mse-scoring"),
    "JEPA only, Q": Meaning(run="query-only-training", text="query-only-scoring"),
    "Score MSE+JEPA KL": Meaning(both="kl-tail-scoring"),
    "EMA 0": Meaning(both="ema-0"),
    "EMA 0.99": Meaning(both="ema-0.99"),
    "EMA 0.999": Meaning(both="ema-0.999"),
    "Mask 0.8": Meaning(both="mask-0.8"),
    "Heads=4": Meaning(both="heads-4"),
    "D=64": Meaning(both="width-64"),
    "Horizon 25": Meaning(both="horizon-25"),
    "Predict keys": Meaning(run="predict-keys-alone", text="predict-keys"),
    "Predict values": Meaning(run="predict-values-alone", text="predict-values"),
    "Predict attn map, Q": Meaning(
        run="predict-map-from-queries-alone", text="predict-map-from-queries"
    ),
    "Predict attn map, QK": Meaning(
        run="predict-map-from-both-alone", text="predict-map-from-both"
    ),
    "Predict hidden state": Meaning(run="predict-hidden-alone", text="predict-hidden"),
}
SAID = {"both": "ours", "run": "ours, as run", "text": "ours, as written"}


def ablation_table(rows: Iterable[Row]) -> Table:
    """Return the paper's Table 3 with our lines under each of its own.

    The last column of numbers is what a variant loses or gains: mean VUS-PR difference to base, on
    the series both have.
    """
    rows = list(rows)
    if len({row.protocol for row in rows}) > 1:
        raise InputError("an ablation table is of one protocol; choose parity or causal")
    grids = {name: collect(rows, metric=name) for name in PAPER_METRICS}
    columns = {name: _by_name(grid) for name, grid in grids.items()}
    lines: list[Line] = []
    for variant, published in paper_ablation().items():
        lines.append(_paper_line(variant, published))
        for kind, label in MEANINGS[variant]._asdict().items():
            if label in columns["VUS-PR"]:
                said = f"{SAID[kind]}: {label}"
                lines.append((variant, said, *_our_cells(columns, grids["VUS-PR"], label)))
    listed = {label for meaning in MEANINGS.values() for label in meaning}
    for label in columns["VUS-PR"]:
        if label not in listed:
            lines.append(("", f"ours: {label}", *_our_cells(columns, grids["VUS-PR"], label)))
    return Table(
        title="Ablation: mean ± standard deviation over series, the paper's and ours",
        columns=(
            Column(heading="variant", style="text"), Column(heading="figures", style="text"),
            *(Column(heading=name, style="spread") for name in PAPER_METRICS),
            Column(heading="VUS-PR to base", style="signed"), SERIES, MISSING,
        ),
        rows=tuple(lines),
        notes=(
            grids["VUS-PR"].setting,
            "As run, as written: where the authors' published runs and the paper's text mean "
            "different things. Seeds of a series are averaged first.",
            f"The paper's figures are of {PAPER_SERIES} tuning series, ours of those at hand: "
            "compare differences to base, not levels.",
            *note_gaps(list(columns["VUS-PR"].values())),
        ),
    )  # fmt: skip


def _by_name(grid: Grid) -> dict[str, Summary]:
    return {summary.name: summary for summary in summarise_grid(grid)}


def _paper_line(variant: str, published: Mapping[str, Spread]) -> Line:
    base = paper_ablation()["Base"]["VUS-PR"].mean
    cells = [Cell(published[name].mean, (published[name].std,)) for name in PAPER_METRICS]
    return variant, "paper", *cells, published["VUS-PR"].mean - base, PAPER_SERIES, None


def _our_cells(columns: Mapping[str, Mapping[str, Summary]], grid: Grid, label: str) -> Line:
    found = [columns[metric][label] for metric in PAPER_METRICS]
    cells = [Cell(summary.mean, (summary.std,)) for summary in found]
    count = columns["VUS-PR"][label]
    return *cells, mean_difference(grid, label, BASE), count.series, count.missing
