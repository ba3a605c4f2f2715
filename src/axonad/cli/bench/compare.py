"""``axonad bench compare``: two runs, or a run and published values."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.results import read_rows
from axonad.bench.row import COLUMNS, Row
from axonad.cli.bench.options import (
    FORMATS,
    Detectors,
    Metric,
    ProtocolName,
    Split,
    choose,
    render,
)
from axonad.cli.options import Force
from axonad.cli.terminal import check_target, out
from axonad.config import check_choice
from axonad.errors import FileError, InputError, UnknownNameError, suggest
from axonad.report.comparisons import comparison_table, pairwise_table
from axonad.report.figures import check_format
from axonad.report.grid import line_names
from axonad.report.plots import draw_scatter
from axonad.report.table import Table

NAMES = ("series", "file", "file_name")


def compare(
    ours: Annotated[Path, typer.Argument(help="Rows: folder, CSV or Parquet.")],
    theirs: Annotated[
        Path, typer.Argument(help="Other rows, or a CSV with a value per series (--column).")
    ],
    column: Annotated[
        str | None, typer.Option(help="Column of published values.", show_default=False)
    ] = None,
    metric: Metric = "VUS-PR",
    detectors: Detectors = None,
    split: Split = None,
    protocol: ProtocolName = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw ours against theirs, PNG or SVG.", show_default=False)
    ] = None,
    form: Annotated[str, typer.Option("--format", "-f", help=", ".join(FORMATS))] = "text",
    force: Force = False,
) -> None:
    """Show where two sets of results differ, series by series."""
    check_choice("format", form, FORMATS)
    if figure is not None:
        check_format(figure)
        check_target(figure, force=force)
    rows = choose(read_rows(ours), detectors=detectors, split=split, protocol=protocol)
    console = out()
    if _is_rows(theirs):
        if column is not None or figure is not None:
            raise InputError("--column and --figure are for published values, not for two runs")
        other = choose(read_rows(theirs), detectors=detectors, split=split, protocol=protocol)
        made = _compare_runs(rows, other, metric)
        console.print(render(made, form).rstrip("\n"), markup=False)
        return
    published = _read_published(theirs, column)
    made = comparison_table(rows, published=published, metric=metric)
    console.print(render(made, form).rstrip("\n"), markup=False)
    if figure is not None:
        figure.parent.mkdir(parents=True, exist_ok=True)
        draw_scatter(figure, rows=rows, published=published, metric=metric)
        console.print(f"wrote {figure}", markup=False)


def _compare_runs(ours: Sequence[Row], theirs: Sequence[Row], metric: str) -> Table:
    """Return a line for every detector and protocol that both runs have: second minus first."""
    common = sorted(set(line_names(ours)) & set(line_names(theirs)))
    if not common:
        raise InputError("the two runs have no detector and protocol in common")
    tables = []
    for label, protocol in common:
        both = [
            replace(row, key=f"{row.key}-{which}", label=which, suite="comparison")
            for which, rows in (("first run", ours), ("second run", theirs))
            for row in rows
            if (row.label, row.protocol) == (label, protocol)
        ]
        tables.append(pairwise_table(both, reference="first run", metric=metric))
    lines = [
        (f"{label} ({protocol})", *made.rows[0][1:])
        for (label, protocol), made in zip(common, tables, strict=True)
    ]
    return replace(
        tables[0], title=f"{metric}: the second run against the first", rows=tuple(lines)
    )


def _is_rows(path: Path) -> bool:
    if path.is_dir() or path.suffix == ".parquet":
        return True
    if not path.is_file():
        raise FileError(f"{path} does not exist; expected rows or a CSV of published values")
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().startswith(",".join(COLUMNS[:4]))


def _read_published(path: Path, column: str | None) -> dict[str, float]:
    """Return the published value of each series; a series without one is left out."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        headings = list(reader.fieldnames or ())
        name = next((n for n in NAMES if n in headings), None)
        if name is None:
            raise InputError(f"{path} has no column of series; expected one of {', '.join(NAMES)}")
        if column is None or column not in headings:
            hint = suggest(column or "", headings)
            raise UnknownNameError(
                f"--column must name a column of {path}, got {column!r}{hint}; "
                f"it has {', '.join(headings)}"
            )
        records = [(record[name], record[column]) for record in reader]
    try:
        return {series: float(value) for series, value in records if value}
    except ValueError as error:
        raise InputError(f"{path}, column {column!r}: {error}") from None
