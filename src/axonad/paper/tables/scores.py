"""Tables 1 and 2: the paper's line of every detector, followed by ours.

A detector that lacks series is marked, is never the best, and is compared with AxonAD on the
series that both have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from axonad.bench.correlation import spearman
from axonad.bench.row import PROTOCOLS, Row
from axonad.paper.published import Spread, paper_scores
from axonad.registry import list_detectors
from axonad.report.quality import DETECTOR, PAPER_METRICS, PARTIAL, has_marks, note_gaps
from axonad.report.results_grid import check_rows, collect, line_names
from axonad.report.seeds import common_runs, runs_by_seed, seed_means
from axonad.report.statistics import Summary, mean_difference, summarise_grid
from axonad.report.table import Cell, Column, Line, Table

OURS = "AxonAD"
VARIANTS = "AxonADVariant"  # has its own table, the ablation
LATER = ("MultiView", "Network", "ShapeMemory", "Forecast", "Relation")  # no part of these tables
FIGURES = "figures"
PAPER_SEEDS = 4


class PaperTable(NamedTuple):
    """A table of the paper: the name of its file, its title, its number of series, a note."""

    name: str
    title: str
    series: str
    note: str


TELEMETRY = PaperTable(
    "telemetry", "Table 1: telemetry", "1",
    "The paper's stream is not public and its ± is over four fits on one stream; ours is over "
    "generated drives, each with a fit of its own: compare the order of detectors, not levels. "
    "Parity scores and judges the whole stream as the paper does, heldout and causal its second "
    "half.",
)  # fmt: skip
ONE_DRIVE = PaperTable(
    "telemetry", "Table 1 on one drive: telemetry", "1",
    "The ± is over fits with different seeds, in the paper on its stream, which is not public, and "
    "here on one generated drive: compare the order of detectors, not levels. Each fit "
    "counts as a series; a detector without randomness is fitted once and counts for every seed.",
)  # fmt: skip
TSB_AD = PaperTable(
    "tsb_ad_m", "Table 2: TSB-AD, multivariate", "180",
    "The paper's figures are of all 180 evaluation series, ours of those at hand: compare the "
    "order of detectors, not levels. Seeds of a series are averaged first.",
)  # fmt: skip


def telemetry_paper_table(rows: Iterable[Row]) -> Table:
    """Return the paper's Table 1 with our lines under each line of the paper."""
    return _table(rows, TELEMETRY)


def one_drive_paper_table(rows: Iterable[Row]) -> Table:
    """Return the paper's Table 1 with our lines, all of one drive: each seed counts as a series."""
    return _table(_one_series_per_seed(list(rows)), ONE_DRIVE)


def tsb_ad_paper_table(rows: Iterable[Row]) -> Table:
    """Return the paper's Table 2 with our lines under each line of the paper."""
    return _table(rows, TSB_AD)


def of_paper(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of the paper's detectors and of the baselines added to them."""
    return [row for row in rows if row.detector not in LATER]


def _table(rows: Iterable[Row], source: PaperTable) -> Table:
    kept = check_rows(of_paper(rows))
    published = paper_scores(source.name)
    naming = line_names(kept)
    grids = {metric: collect(kept, metric=metric) for metric in PAPER_METRICS}
    found = {metric: {s.name: s for s in summarise_grid(g)} for metric, g in grids.items()}
    count = len(grids["VUS-PR"].series)
    spreads = {key: _over_seeds(kept, *key) for key in naming}
    several = any(spread.shared for spread in spreads.values())
    lines: list[Line] = []
    for detector in _order(published, [label for label, _ in naming]):
        if detector in published:
            lines.append(_paper_line(detector, published, source.series, several))
        ours = [protocol for protocol in PROTOCOLS if (detector, protocol) in naming]
        for protocol in ours:
            name = naming[detector, protocol]
            rival = naming.get((OURS, protocol), "")
            summaries = [found[metric][name] for metric in PAPER_METRICS]
            spread = spreads[detector, protocol]
            lines.append(
                (
                    detector, f"ours, {protocol}", *(_cell(s, count) for s in summaries),
                    None if detector == OURS else mean_difference(grids["VUS-PR"], name, rival),
                    f"{found['VUS-PR'][name].series} of {count}", spread.seeds,
                    *([spread.std] if several else []),
                )
            )  # fmt: skip
        if not ours:
            blank = [None] * (len(PAPER_METRICS) + 1)
            last = [None] * (1 + several)
            lines.append((detector, "ours, not run", *blank, f"0 of {count}", *last))
    return Table(
        title=f"{source.title}, the paper's and ours: mean ± standard deviation",
        columns=(
            DETECTOR, Column(heading=FIGURES, style="text"),
            *(Column(heading=name, style="spread", best="max") for name in PAPER_METRICS),
            Column(heading=f"VUS-PR to {OURS}", style="signed"),
            Column(heading="series", style="text"), Column(heading="seeds", style="count"),
            *([Column(heading="VUS-PR ± over seeds")] if several else []),
        ),
        rows=tuple(lines),
        notes=(
            grids["VUS-PR"].setting,
            source.note,
            *_agreement(found["VUS-PR"], naming, published, count),
            *([_partial_note(count)] if has_marks(lines) else []),
            *note_gaps([s for s in found["VUS-PR"].values() if s.failed]),
        ),
        among=FIGURES,
    )  # fmt: skip


def _one_series_per_seed(rows: Sequence[Row]) -> list[Row]:
    """Return the rows as if every seed were a series of its own.

    A detector without randomness has rows of one seed only: they stand for every seed.
    """
    seeds = sorted({row.seed for row in rows})
    found = []
    for row in rows:
        counts_for = [row.seed] if "seed" in row.params else seeds
        found += [
            replace(row, series=f"{row.series}, seed {seed}", seed=seed, key=f"{row.key}-{seed}")
            for seed in counts_for
        ]
    return found


def _order(published: Mapping[str, object], labels: Iterable[str]) -> list[str]:
    """Return the paper's detectors in its order, then all others, AxonAD last."""
    registered = [e.name for e in list_detectors() if e.name not in (VARIANTS, *LATER)]
    every = dict.fromkeys([*published, *sorted(labels), *registered])
    return [name for name in every if name != OURS] + [OURS]


def _paper_line(
    detector: str, published: Mapping[str, Mapping[str, Spread]], series: str, several: bool
) -> Line:
    values = published[detector]
    cells = [Cell(values[name].mean, (values[name].std,)) for name in PAPER_METRICS]
    difference = values["VUS-PR"].mean - published[OURS]["VUS-PR"].mean
    behind = None if detector == OURS else difference
    return detector, "paper", *cells, behind, series, PAPER_SEEDS, *([None] if several else [])


def _cell(summary: Summary, count: int) -> Cell:
    whole = summary.series == count
    mark = "" if whole or not summary.series else PARTIAL
    return Cell(summary.mean, (summary.std,), mark=mark, ranked=whole)


class _SeedSpread(NamedTuple):
    seeds: int
    shared: bool  # several seeds have the same series
    std: float | None


def _over_seeds(rows: Sequence[Row], label: str, protocol: str) -> _SeedSpread:
    """Return the number of seeds of a line and the deviation of its mean VUS-PR over them."""
    line = [row for row in rows if (row.label, row.protocol) == (label, protocol)]
    runs = runs_by_seed(line, metric="VUS-PR")
    named = [series for found in runs.values() for series in found]
    shared = len(set(named)) < len(named)
    kept = common_runs([runs]) if shared else {}
    std = float(seed_means(runs, kept).std(ddof=1)) if len(kept) > 1 else None
    return _SeedSpread(len(runs), shared, std)


def _agreement(
    found: Mapping[str, Summary],
    naming: Mapping[tuple[str, str], str],
    published: Mapping[str, Mapping[str, Spread]],
    count: int,
) -> list[str]:
    """Return notes on how the order of detectors agrees with the paper's, by protocol."""
    notes = []
    for protocol in PROTOCOLS:
        both = [
            (published[label]["VUS-PR"].mean, found[name].mean)
            for (label, of), name in naming.items()
            if of == protocol and label in published and found[name].series == count
        ]
        if len(both) > 2:
            rank = spearman(*np.array(both).T)
            notes.append(
                f"Order by VUS-PR, the paper's against ours ({protocol}), {len(both)} detectors "
                f"with all series: Spearman {rank:.2f}."
            )
    return notes


def _partial_note(count: int) -> str:
    return (
        f"{PARTIAL} not over all {count} series: not comparable with the other lines and never the "
        f"best; the difference to {OURS} is over the series both have."
    )
