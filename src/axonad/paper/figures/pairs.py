"""Figure 5: wins, losses and median differences of every detector against AxonAD."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.paper.published import paper_pairs
from axonad.paper.tables.pairs import of_protocol
from axonad.paper.tables.scores import OURS
from axonad.report.comparison_figures import draw_pairwise
from axonad.report.results_grid import check_rows, collect, line_names

METRIC = "AUC-PR"


def draw_paper_pairs(path: Path, rows: Iterable[Row], *, protocol: str) -> None:
    """Draw Figure 5 under a protocol, the paper's win rates and medians marked beside ours.

    Only detectors that have all series are drawn.
    """
    kept, lacking = complete_rows(of_protocol(rows, protocol), metric=METRIC)
    if all(row.label != OURS for row in kept):
        raise InputError(f"{OURS} has no {METRIC} on some series; nothing to compare with")
    published = {
        name: (pair.win_rate, pair.median)
        for (name, metric), pair in paper_pairs().items()
        if metric == METRIC
    }
    note = f" {len(lacking)} detectors without all series are not shown." if lacking else ""
    draw_pairwise(path, rows=kept, reference=OURS, metric=METRIC, published=published, note=note)


def complete_rows(rows: Iterable[Row], *, metric: str) -> tuple[list[Row], list[str]]:
    """Return the rows of lines that have a metric on every series, and the names of the others."""
    kept = check_rows(rows)
    grid = collect(kept, metric=metric)
    naming = line_names(kept)
    lacking = {n for n, v in zip(grid.names, grid.values, strict=True) if np.isnan(v).any()}
    whole = [row for row in kept if naming[row.label, row.protocol] not in lacking]
    return whole, sorted(lacking)
