"""Tables S3 and S4: every detector against AxonAD, the paper's and ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import PaperPair, paper_pairs
from axonad.paper.tables.scores import OURS, TSB_AD, of_paper
from axonad.report.comparisons import SIGNIFICANT
from axonad.report.quality import DETECTOR
from axonad.report.results_grid import collect
from axonad.report.statistics import Comparison, compare, holm
from axonad.report.table import Cell, Column, Line, Table

RANKING = ("AUC-PR", "AUC-ROC")
RANGE = ("VUS-PR", "Range-F1", "Affiliation-F1")


def paper_pairs_table(rows: Iterable[Row], *, metrics: Sequence[str], protocol: str) -> Table:
    """Return every detector against AxonAD under a protocol, the paper's line above ours."""
    kept = of_protocol(rows, protocol)
    found = {
        metric: {c.baseline: c for c in compare(kept, reference=OURS, metric=metric)}
        for metric in metrics
    }
    grid = collect(kept, metric=metrics[0])
    published = paper_pairs()
    corrected = {metric: _holm(published, metric) for metric in metrics}
    ours = sorted(found[metrics[0]], key=str.casefold)
    lines: list[Line] = []
    for detector in dict.fromkeys([*(name for name, _ in published), *ours]):
        if (detector, metrics[0]) in published:
            theirs = [(published[detector, m], corrected[m][detector]) for m in metrics]
            cells = [
                cell for pair, p_holm in theirs for cell in _cells(*astuple(pair), p_holm=p_holm)
            ]
            lines.append((detector, "paper", *cells, TSB_AD.series))
        compared = [found[m].get(detector) for m in metrics]
        cells = [cell for c in compared for cell in _our_cells(c)]
        series = compared[0].series if compared[0] else 0
        lines.append((detector, f"ours, {protocol}", *cells, f"{series} of {len(grid.series)}"))
    return Table(
        title=f"Every detector against {OURS} ({', '.join(metrics)}), the paper's and ours",
        columns=(
            DETECTOR, Column(heading="figures", style="text"),
            *(column for metric in metrics for column in _columns(metric)),
            Column(heading="series", style="text"),
        ),
        rows=tuple(lines),
        notes=(
            grid.setting,
            f"Won: series won per series in common. Mean, median: detector minus {OURS}, negative "
            f"where {OURS} is better. p: Wilcoxon; † not significant at {SIGNIFICANT} after Holm's "
            "correction over the paper's lines, or ours. 95 %: bootstrap interval of the mean.",
            f"Every line of ours is over the series that the detector and {OURS} both have.",
        ),
    )  # fmt: skip


def of_protocol(rows: Iterable[Row], protocol: str) -> list[Row]:
    """Return the rows of a protocol that belong in the paper's tables; raise if there are none."""
    kept = [row for row in of_paper(rows) if row.protocol == protocol]
    if not kept:
        raise InputError(f"there are no rows of protocol {protocol}")
    return kept


def _holm(published: Mapping[tuple[str, str], PaperPair], metric: str) -> dict[str, float]:
    p = {name: pair.p for (name, of), pair in published.items() if of == metric}
    return dict(zip(p, holm(list(p.values())), strict=True))


def _columns(metric: str) -> list[Column]:
    return [
        Column(heading=f"{metric} won"),
        Column(heading=f"{metric} mean", style="signed", digits=4),
        Column(heading=f"{metric} median", style="signed", digits=4),
        Column(heading=f"{metric} p", style="p"),
        Column(heading=f"{metric} 95 %", style="interval", digits=4),
    ]


def _our_cells(c: Comparison | None) -> list[Cell]:
    if c is None:
        return [Cell()] * len(_columns(""))
    return _cells(
        c.win_rate, c.mean_delta, c.median_delta, c.p_value, c.low, c.high, p_holm=c.p_holm
    )


def _cells(
    won: float, mean: float, median: float, p: float, low: float, high: float, *, p_holm: float
) -> list[Cell]:
    mark = "†" if p_holm >= SIGNIFICANT else ""
    return [Cell(won), Cell(mean), Cell(median), Cell(p, mark=mark), Cell(None, (low, high))]
