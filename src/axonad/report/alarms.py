"""What a detector's own threshold, set without labels, would have raised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.report.grid import Grid, check_rows, collect_with
from axonad.report.statistics import summarise_grid
from axonad.report.table import Column, Line, Table
from axonad.report.tables import DETECTOR, SERIES, best_first

COLUMNS = {
    "events": Column(heading="events", digits=2),
    "found": Column(heading="found", digits=2),
    "false_alarms": Column(heading="false alarms", digits=2),
    "share": Column(heading="steps above"),
}


def alarm_table(rows: Iterable[Row]) -> Table:
    """Return events, how many were found, false alarms and the share of alarmed steps: means."""
    kept = check_rows(rows)
    if not any(row.alarms for row in kept):
        raise InputError("no row says what its threshold would have raised")
    grids = {name: _grid(kept, name) for name in COLUMNS}
    means = {name: summarise_grid(grid) for name, grid in grids.items()}
    found = means["found"]
    lines: list[Line] = [
        (found[i].name, *(summaries[i].mean for summaries in means.values()), found[i].series)
        for i in best_first([summary.mean for summary in found])
    ]
    return Table(
        title="What the detector's own threshold raises: means over series",
        columns=(DETECTOR, *COLUMNS.values(), SERIES),
        rows=tuple(lines),
        notes=(
            grids["found"].setting,
            "The threshold comes from training scores alone. False alarms: runs of alarms that "
            "touch no event. Steps above: share of all steps scored.",
        ),
    )


def _grid(rows: Sequence[Row], name: str) -> Grid:
    return collect_with(rows, value=lambda row: row.alarms.get(name))
