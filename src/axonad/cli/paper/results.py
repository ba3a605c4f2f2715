"""Print and write the tables and figures of an experiment."""

from __future__ import annotations

from pathlib import Path

from axonad.cli.bench.report_files import (
    FIGURE_FILES,
    TABLE_FILES,
    DrawFigures,
    MakeTables,
    print_report_table,
    write_report,
)
from axonad.cli.output_files import check_output
from axonad.cli.terminal import print_line
from axonad.errors import FileError


def check_results_folder(folder: Path | None) -> None:
    """Raise if tables and figures cannot be written to the folder of ``--write``."""
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file; expected a folder for tables and figures")
    check_output(folder / "table.md", force=True)


def write_results(folder: Path, *, tables: MakeTables, figures: DrawFigures) -> None:
    """Print the first table; write all tables and figures, overwriting those of an earlier run.

    If the first table cannot be made, the error is raised; others are reported with the reason.
    """
    first = next(iter(tables))
    table = tables[first]()
    print_report_table(table, "text")
    report = write_report(
        folder, tables={**tables, first: lambda: table}, figures=figures, force=True
    )
    drawn = f" and {', '.join(report.figures)} (.png, .svg)" if report.figures else ""
    print_line(f"wrote {', '.join(report.tables)} (.md, .tex, .csv){drawn} to {folder}")
    for kind, name, reason in report.missing:
        endings = FIGURE_FILES if kind == "figure" else TABLE_FILES
        stale = any((folder / f"{name}{ending}").exists() for ending in endings)
        note = " (the file of an earlier run is kept)" if stale else ""
        print_line(f"  no {kind} {name}: {reason}{note}", style="yellow")
