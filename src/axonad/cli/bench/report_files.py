"""Print a table in one of several formats; write tables and figures into a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from axonad import atomic
from axonad.cli.output_files import check_output
from axonad.cli.terminal import print_json, print_line
from axonad.errors import AxonADError, FileError
from axonad.report.table import Table

FORMATS: dict[str, Callable[[Table], str]] = {
    "text": Table.to_text,
    "markdown": Table.to_markdown,
    "latex": Table.to_latex,
    "csv": Table.to_csv,
    "json": Table.to_json,
}
TABLE_FILES = {".md": "markdown", ".tex": "latex", ".csv": "csv"}
FIGURE_FILES = (".png", ".svg")

Format = Annotated[
    str, typer.Option("--format", "-f", help=f"Format of the table: {', '.join(FORMATS)}.")
]
MakeTables = Mapping[str, Callable[[], Table]]
DrawFigures = Mapping[str, Callable[[Path], None]]


@dataclass
class Report:
    """Names of the tables and figures written, and ``(kind, name, reason)`` of those missing."""

    tables: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    missing: list[tuple[str, str, str]] = field(default_factory=list)


def print_report_table(table: Table, form: str) -> None:
    """Print a table in one of the formats."""
    if form == "json":
        print_json(json.loads(table.to_json()))
    else:
        print_line(FORMATS[form](table).rstrip("\n"))


def write_report(folder: Path, *, tables: MakeTables, figures: DrawFigures, force: bool) -> Report:
    """Write every table and figure the rows allow into ``folder``."""
    report = Report()
    texts: dict[Path, str] = {}
    for name, make in tables.items():
        try:
            table = make()
        except AxonADError as error:
            report.missing.append(("table", name, str(error)))
            continue
        texts |= {
            folder / f"{name}{end}": FORMATS[form](table) for end, form in TABLE_FILES.items()
        }
        report.tables.append(name)
    for path in texts:
        check_output(path, force=force)
    for path, text in texts.items():
        atomic.write_bytes(path, text.encode(), overwrite=True)
    for name, draw in figures.items():
        paths = [folder / f"{name}{ending}" for ending in FIGURE_FILES]
        for path in paths:
            check_output(path, force=force)
        try:
            for path in paths:
                draw(path)
            report.figures.append(name)
        except FileError:  # a full disk, for example, is no property of the rows
            raise
        except AxonADError as error:
            report.missing.append(("figure", name, str(error)))
    return report
