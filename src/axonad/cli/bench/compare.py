"""``axonad bench compare``: two runs, or a run and published values."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.results import read_rows
from axonad.bench.row import COLUMNS
from axonad.cli.bench.options import (
    FORMATS,
    Detectors,
    Metric,
    ProtocolName,
    Split,
    WindowRule,
    check_quality,
    choose,
    render,
)
from axonad.cli.options import Force
from axonad.cli.terminal import check_target, out
from axonad.config import check_choice
from axonad.errors import FileError, InputError, UnknownNameError, suggest
from axonad.report.comparison_figures import draw_scatter
from axonad.report.comparisons import comparison_table, runs_table
from axonad.report.drawing import check_format

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
    window: WindowRule = None,
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
    rows = choose(
        read_rows(ours), detectors=detectors, split=split, protocol=protocol, window=window
    )
    console = out()
    if _is_rows(theirs):
        if column is not None or figure is not None:
            raise InputError("--column and --figure are for published values, not for two runs")
        other = choose(
            read_rows(theirs), detectors=detectors, split=split, protocol=protocol, window=window
        )
        made = runs_table(rows, other, metric=check_quality(metric, rows))
        console.print(render(made, form).rstrip("\n"), markup=False)
        return
    published = _read_published(theirs, column)
    made = comparison_table(rows, published=published, metric=metric)
    console.print(render(made, form).rstrip("\n"), markup=False)
    if figure is not None:
        figure.parent.mkdir(parents=True, exist_ok=True)
        draw_scatter(figure, rows=rows, published=published, metric=metric)
        console.print(f"wrote {figure}", markup=False)


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
