"""``axonad bench table``: tables and figures of the rows of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.results import read_rows
from axonad.bench.row import Row
from axonad.cli.bench.options import Detectors, Metric, ProtocolName, SeriesParts, Split, WindowRule
from axonad.cli.bench.report_files import (
    FORMATS,
    DrawFigures,
    Format,
    MakeTables,
    print_report_table,
    write_report,
)
from axonad.cli.bench.row_selection import check_metric, select_rows
from axonad.cli.options import AsJson, Force
from axonad.cli.terminal import print_line
from axonad.config import check_choice
from axonad.errors import InputError
from axonad.report.alarms import alarm_table
from axonad.report.combination import PARTS, combination_table
from axonad.report.comparison_figures import draw_pairwise, draw_runtime
from axonad.report.comparisons import pairwise_table
from axonad.report.costs import failure_table, runtime_table
from axonad.report.critical_difference import draw_critical_difference
from axonad.report.events import event_table, has_events
from axonad.report.quality import dataset_table, kind_table, parts_table, score_table
from axonad.report.results_grid import line_names
from axonad.report.table import Table

KINDS = (
    "scores", "macro", "datasets", "kinds", "parts", "combination", "alarms", "threshold",
    "pairwise", "runtime", "failures",
)  # fmt: skip


def table(
    results: Annotated[
        Path, typer.Argument(help="Folder of a run, or its rows as CSV or Parquet.")
    ],
    kind: Annotated[
        str, typer.Option("--table", "-t", help=f"Table to print: {', '.join(KINDS)}.")
    ] = "scores",
    metric: Metric = "VUS-PR",
    reference: Annotated[
        str | None,
        typer.Option(help="Detector to compare all others with. Default: AxonAD, if present."),
    ] = None,
    detectors: Detectors = None,
    series: SeriesParts = None,
    split: Split = None,
    protocol: ProtocolName = None,
    window: WindowRule = None,
    form: Format = "text",
    as_json: AsJson = False,
    target: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write all tables and figures into this folder instead of printing one table.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Print a table of a run's rows, or write all tables and figures."""
    check_choice("table", kind, KINDS)
    form = "json" if as_json else form
    check_choice("format", form, FORMATS)
    rows = select_rows(
        read_rows(results), detectors=detectors, series=series, split=split, protocol=protocol,
        window=window,
    )  # fmt: skip
    metric = check_metric(metric, rows)
    reference = _choose_reference(rows, reference)
    tables = _tables(rows, metric, reference)
    if target is None:
        if kind not in tables:
            raise InputError(f"these rows give no table {kind!r}; they give {', '.join(tables)}")
        print_report_table(tables[kind](), form)
        return
    figures = _figures(rows, metric, reference)
    report = write_report(target, tables=tables, figures=figures, force=force)
    print_line(
        f"wrote {len(report.tables)} tables (.md, .tex, .csv) and {len(report.figures)} figures "
        f"to {target}"
    )
    for what, name, reason in report.missing:
        print_line(f"  no {what} {name!r}: {reason}", style="yellow")


def _tables(rows: list[Row], metric: str, reference: str | None) -> MakeTables:
    """Return a function for each table these rows can give."""
    made: dict[str, Callable[[], Table]] = {
        "scores": partial(score_table, rows),
        "macro": partial(score_table, rows, over="datasets"),
        "datasets": partial(dataset_table, rows, metric=metric),
        "runtime": partial(runtime_table, rows),
    }
    if any(row.kinds for row in rows):
        made["kinds"] = partial(kind_table, rows)
    if any(row.parts for row in rows):
        made["parts"] = partial(parts_table, rows)
    if any(set(PARTS) <= set(row.parts) for row in rows):
        made["combination"] = partial(combination_table, rows)
    if any(row.alarms for row in rows):
        has_any = any(has_events(row) for row in rows)
        made["alarms"] = partial(event_table if has_any else alarm_table, rows)
        made["threshold"] = partial(alarm_table, rows)
    if reference is not None:
        made["pairwise"] = partial(pairwise_table, rows, reference=reference, metric=metric)
    if any(not row.is_ok for row in rows):
        made["failures"] = partial(failure_table, rows)
    return {kind: made[kind] for kind in KINDS if kind in made}


def _figures(rows: list[Row], metric: str, reference: str | None) -> DrawFigures:
    """Return a function for each figure these rows can give."""
    figures: dict[str, Callable[[Path], None]] = {
        "runtime": partial(draw_runtime, rows=rows, metric=metric)
    }
    if reference is not None:
        figures["pairwise"] = partial(draw_pairwise, rows=rows, reference=reference, metric=metric)
        finished = {(row.label, row.protocol) for row in rows if row.is_ok}
        ranked = [row for row in rows if (row.label, row.protocol) in finished]
        figures["ranks"] = partial(draw_critical_difference, rows=ranked, metric=metric)
    return figures


def _choose_reference(rows: list[Row], given: str | None) -> str | None:
    """Return the detector to compare the others with; None if fewer than two can be compared."""
    names = line_names(rows)
    finished = Counter(names[r.label, r.protocol] for r in rows if r.is_ok)
    usable = [name for name in names.values() if finished[name] > 1]
    if len(usable) < 2:
        return None
    ours = [name for name in usable if name.split(" (")[0] == "AxonAD"]
    return given or (ours[-1] if ours else usable[0])
