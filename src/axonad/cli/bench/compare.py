"""``axonad bench compare``: compare two runs, or a run with published values."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.results import read_rows
from axonad.bench.row import COLUMNS
from axonad.cli.bench.options import Detectors, Metric, ProtocolName, Split, WindowRule
from axonad.cli.bench.report_files import FORMATS, Format, print_report_table
from axonad.cli.bench.row_selection import check_metric, select_rows
from axonad.cli.options import AsJson, Force
from axonad.cli.output_files import check_output
from axonad.cli.terminal import print_status
from axonad.config import check_choice
from axonad.errors import FileError, InputError, UnknownNameError, suggest
from axonad.report.comparison_figures import draw_scatter
from axonad.report.comparisons import comparison_table, runs_table
from axonad.report.drawing import check_format

SERIES_COLUMNS = ("series", "file", "file_name")


def compare(
    ours: Annotated[Path, typer.Argument(help="Rows of a run: folder, CSV or Parquet.")],
    theirs: Annotated[
        Path,
        typer.Argument(
            help="Rows of another run, or a CSV with one published value per series (--column)."
        ),
    ],
    column: Annotated[str | None, typer.Option(help="Column with the published values.")] = None,
    metric: Metric = "VUS-PR",
    detectors: Detectors = None,
    split: Split = None,
    protocol: ProtocolName = None,
    window: WindowRule = None,
    figure: Annotated[
        Path | None,
        typer.Option(help="Also plot our values against the published ones, PNG or SVG."),
    ] = None,
    form: Format = "text",
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Compare two sets of results, series by series."""
    form = "json" if as_json else form
    check_choice("format", form, FORMATS)
    if figure is not None:
        check_format(figure)
        check_output(figure, force=force)
    select = partial(
        select_rows, detectors=detectors, split=split, protocol=protocol, window=window
    )
    rows = select(read_rows(ours))
    if _is_rows(theirs):
        if column is not None or figure is not None:
            raise InputError("--column and --figure are for published values, not for two runs")
        other = select(read_rows(theirs))
        table = runs_table(rows, other, metric=check_metric(metric, rows))
        print_report_table(table, form)
        return
    published = _read_published(theirs, column)
    print_report_table(comparison_table(rows, published=published, metric=metric), form)
    if figure is not None:
        figure.parent.mkdir(parents=True, exist_ok=True)
        draw_scatter(figure, rows=rows, published=published, metric=metric)
        print_status(f"wrote {figure}")


def _is_rows(path: Path) -> bool:
    if path.is_dir() or path.suffix == ".parquet":
        return True
    if not path.is_file():
        raise FileError(f"{path} does not exist; expected rows or a CSV of published values")
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().startswith(",".join(COLUMNS[:4]))


def _read_published(path: Path, column: str | None) -> dict[str, float]:
    """Return the published value by series; a series without a value is left out."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        headings = list(reader.fieldnames or ())
        name = next((n for n in SERIES_COLUMNS if n in headings), None)
        if name is None:
            expected = ", ".join(SERIES_COLUMNS)
            raise InputError(f"{path} has no column of series names; expected one of {expected}")
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
