"""Tables of detection quality: per detector, data set, kind of event and part of the score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.report.results_grid import (
    Grid,
    check_rows,
    collect,
    collect_with,
    describe,
    line_names,
)
from axonad.report.statistics import Summary, dataset_means, summarise, summarise_grid
from axonad.report.table import Cell, Column, Line, Table

PAPER_METRICS = (
    "AUC-PR", "AUC-ROC", "VUS-PR", "VUS-ROC", "PA-F1", "Event-F1", "Range-F1", "Affiliation-F1",
)  # fmt: skip
"""The metrics of the paper's main table, in its order."""
PARTIAL = "†"
DETECTOR = Column(heading="detector", style="text")
SERIES = Column(heading="series", style="count")
MISSING = Column(heading="missing", style="count")


def score_table(rows: Iterable[Row], *, over: str = "series") -> Table:
    """Return mean ± standard deviation of the paper's metrics, sorted by VUS-PR.

    ``over="series"`` is the paper's average; ``over="datasets"`` weights all data sets equally.
    """
    rows = check_rows(rows)
    columns = {name: summarise(rows, metric=name, over=over) for name in PAPER_METRICS}
    first = columns["VUS-PR"]
    lines: list[Line] = []
    for i in best_first([summary.mean for summary in first]):
        summary = first[i]
        cells = [Cell(column[i].mean, (column[i].std,)) for column in columns.values()]
        sets = [summary.datasets] if over == "datasets" else []
        lines.append((summary.name, *cells, *sets, summary.series, summary.missing))
    counted = [Column(heading="data sets", style="count")] if over == "datasets" else []
    return Table(
        title=f"Mean ± standard deviation over {'series' if over == 'series' else 'data sets'}",
        columns=(
            DETECTOR,
            *(Column(heading=name, style="spread", best="max") for name in PAPER_METRICS),
            *counted, SERIES, MISSING,
        ),
        rows=tuple(lines),
        notes=(describe(rows), *note_gaps(first)),
    )  # fmt: skip


def dataset_table(rows: Iterable[Row], *, metric: str = "VUS-PR") -> Table:
    """Return the mean of a metric per detector and data set, and the mean of those means."""
    grid = collect(rows, metric=metric)
    sizes = {name: grid.datasets.count(name) for name in sorted(set(grid.datasets))}
    summaries = summarise_grid(grid, over="datasets")
    lines: list[Line] = []
    for i in best_first([summary.mean for summary in summaries]):
        means = dataset_means(grid.values[i], datasets=grid.datasets)
        partial = {d for d, v in zip(grid.datasets, grid.values[i], strict=True) if math.isnan(v)}
        cells = [
            Cell(means.get(d), mark=PARTIAL if d in partial & set(means) else "") for d in sizes
        ]
        lines.append((grid.names[i], *cells, summaries[i].mean, summaries[i].missing))
    shown = [Column(heading=f"{name} ({size})", best="max") for name, size in sizes.items()]
    notes = [grid.setting, "In brackets: the number of series."]
    if has_marks(lines):
        notes.append(f"{PARTIAL} some series of the data set are missing and left out.")
    return Table(
        title=f"{metric} per data set",
        columns=(DETECTOR, *shown, Column(heading="mean of sets", best="max"), MISSING),
        rows=tuple(lines),
        notes=(*notes, *note_gaps(summaries)),
    )


def kind_table(rows: Iterable[Row]) -> Table:
    """Return mean VUS-PR per detector and kind of planted event, with other kinds masked."""
    kept = check_rows(rows)
    kinds = sorted({kind for row in kept for kind in row.kinds})
    if not kinds:
        raise InputError("no row has kinds of events; only rows of generated series do")
    events = [_kind_grid(kept, kind, "events") for kind in kinds]
    found = [summarise_grid(_kind_grid(kept, kind, "VUS-PR")) for kind in kinds]
    means = np.array([[summary.mean for summary in summaries] for summaries in found]).T
    present = ~np.isnan(means)
    overall = np.where(present, means, 0).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    overall[~present.any(axis=1)] = np.nan
    whole = summarise(kept)
    lines = [
        (whole[i].name, *means[i].tolist(), float(overall[i]), whole[i].missing)
        for i in best_first(overall.tolist())
    ]
    counts = [int(np.nan_to_num(grid.values).max(axis=0).sum()) for grid in events]
    shown = [Column(heading=f"{k} ({n})", best="max") for k, n in zip(kinds, counts, strict=True)]
    return Table(
        title="VUS-PR per kind of event",
        columns=(DETECTOR, *shown, Column(heading="mean of kinds", best="max"), MISSING),
        rows=tuple(lines),
        notes=(describe(kept), "In brackets: the number of events.", *note_gaps(whole)),
    )


def _kind_grid(rows: Sequence[Row], kind: str, what: str) -> Grid:
    return collect_with(rows, value=lambda row: row.kinds.get(kind, {}).get(what))


def parts_table(rows: Iterable[Row]) -> Table:
    """Return VUS-PR of the score, of each part alone, and of the score at the window's end."""
    kept = check_rows(rows)
    naming = line_names(kept)
    wanted = {naming[row.label, row.protocol] for row in kept if row.parts}
    parts = {part for row in kept for part in row.parts}
    if not parts:
        raise InputError("no row has score parts; only detectors with named parts report them")
    order = sorted(parts, key=lambda part: (part == "end", part != "d_rec", part))
    whole = summarise(kept)
    columns = [summarise(kept, metric=f"VUS-PR {part}") for part in order]
    lines: list[Line] = []
    for i in best_first([summary.mean for summary in whole]):
        if whole[i].name in wanted:
            cells = [
                Cell(c[i].mean, mark=PARTIAL if 0 < c[i].series < whole[i].series else "")
                for c in columns
            ]
            lines.append((whole[i].name, whole[i].mean, *cells, whole[i].series, whole[i].missing))
    notes = [
        describe(kept),
        "Mean over series; end: the score at the window's end.",
    ]
    if has_marks(lines):
        notes.append(f"{PARTIAL} not every series of the score has this part.")
    return Table(
        title="VUS-PR of the score and of its parts",
        columns=(
            DETECTOR, Column(heading="score", best="max"),
            *(Column(heading=part, best="max") for part in order), SERIES, MISSING,
        ),
        rows=tuple(lines),
        notes=(*notes, *note_gaps([s for s in whole if s.name in wanted])),
    )  # fmt: skip


def best_first(values: Sequence[float]) -> list[int]:
    """Return the positions from the highest value to the lowest, NaN last."""
    return sorted(range(len(values)), key=lambda i: (math.isnan(values[i]), -values[i]))


def has_marks(lines: Iterable[Line]) -> bool:
    """Return whether any cell carries a mark, which then needs a note."""
    return any(isinstance(cell, Cell) and cell.mark for line in lines for cell in line)


def note_gaps(summaries: Sequence[Summary]) -> list[str]:
    """Return notes on missing series and failed runs, if there are any."""
    notes = []
    if any(summary.missing for summary in summaries):
        notes.append(
            "Missing series (failed or not run) are left out, never zero: means with different "
            "counts are not over the same series."
        )
    failed = sum(summary.failed for summary in summaries)
    if failed:
        notes.append(f"Failed runs: {failed}.")
    return notes
