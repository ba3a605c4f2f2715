"""The ablation table: the paper's lines, each followed by ours.

For some lines the paper's text and the authors' published runs mean different things. Those have
two lines of ours: one reproduces what was run, one what is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import PAPER_SERIES, paper_ablation
from axonad.report.quality import MISSING, PAPER_METRICS, SERIES, note_gaps
from axonad.report.results_grid import Grid, collect
from axonad.report.statistics import Summary, mean_difference, summarise_grid
from axonad.report.table import Cell, Column, Line, Table

BASE = "base"


class Meaning(NamedTuple):
    """Labels in the suite for a line of the paper: for both meanings, as run, and as written."""

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
LINE_LABELS = {"both": "ours", "run": "ours, as run", "text": "ours, as written"}


def ablation_table(rows: Iterable[Row]) -> Table:
    """Return the paper's Table 3 with our lines under each line of the paper.

    The difference to base is the mean VUS-PR difference on the series that both have.
    """
    rows = list(rows)
    if len({row.protocol for row in rows}) > 1:
        raise InputError("the rows mix protocols; choose one (--protocol)")
    grids = {name: collect(rows, metric=name) for name in PAPER_METRICS}
    columns = {name: {s.name: s for s in summarise_grid(grid)} for name, grid in grids.items()}
    ours = {label: _our_cells(columns, grids["VUS-PR"], label) for label in columns["VUS-PR"]}
    published = paper_ablation()
    lines: list[Line] = []
    for variant, spreads in published.items():
        cells = [Cell(spreads[name].mean, (spreads[name].std,)) for name in PAPER_METRICS]
        difference = spreads["VUS-PR"].mean - published["Base"]["VUS-PR"].mean
        lines.append((variant, "paper", *cells, difference, PAPER_SERIES, None))
        for kind, label in MEANINGS[variant]._asdict().items():
            if label in ours:
                lines.append((variant, f"{LINE_LABELS[kind]}: {label}", *ours[label]))
    listed = {label for meaning in MEANINGS.values() for label in meaning}
    lines += [("", f"ours: {label}", *ours[label]) for label in ours if label not in listed]
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


def _our_cells(columns: Mapping[str, Mapping[str, Summary]], grid: Grid, label: str) -> Line:
    found = [columns[metric][label] for metric in PAPER_METRICS]
    cells = [Cell(summary.mean, (summary.std,)) for summary in found]
    count = columns["VUS-PR"][label]
    return *cells, mean_difference(grid, label, BASE), count.series, count.missing
