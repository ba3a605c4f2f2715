"""Table of the alarms that each detector's own threshold, set without labels, would raise."""

from __future__ import annotations

from collections.abc import Iterable

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.report.quality import DETECTOR, SERIES, best_first
from axonad.report.results_grid import check_rows, collect_with, describe
from axonad.report.statistics import Summary, summarise_grid
from axonad.report.table import Column, Line, Table

COLUMNS = {
    "events": Column(heading="events", digits=2),
    "found": Column(heading="found", digits=2),
    "false_alarms": Column(heading="false alarms", digits=2),
    "share": Column(heading="steps above"),
}
NEWER = {
    "normal_share": Column(heading="normal steps above"),
    "median_delay": Column(heading="median delay", digits=1),
}
"""Columns that earlier rows do not have; shown if a row has them."""


def alarm_table(rows: Iterable[Row]) -> Table:
    """Return means over series: events, events found, false alarms, share of steps alarmed."""
    kept = check_rows(rows)
    if not any(row.alarms for row in kept):
        raise InputError("no row has alarms; only successful runs report them")

    def summaries_of(name: str) -> list[Summary]:
        return summarise_grid(collect_with(kept, value=lambda row: row.alarms.get(name)))

    newer = {name: c for name, c in NEWER.items() if any(name in row.alarms for row in kept)}
    columns = COLUMNS | newer
    means = {name: summaries_of(name) for name in columns}
    found = means["found"]
    lines: list[Line] = [
        (found[i].name, *(summaries[i].mean for summaries in means.values()), found[i].series)
        for i in best_first([summary.mean for summary in found])
    ]
    return Table(
        title="What the detector's own threshold raises: means over series",
        columns=(DETECTOR, *columns.values(), SERIES),
        rows=tuple(lines),
        notes=(
            describe(kept),
            "The threshold comes from training scores alone. False alarms: runs of alarms that "
            "touch no event. Steps above: share of all steps scored."
            + (" Median delay: steps from an event's start to its first alarm." if newer else ""),
        ),
    )
