"""What an experiment shows at its end: tables and figures, and why one of them is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from axonad.cli.bench.options import ENDINGS, render, write_tables
from axonad.cli.terminal import check_target, out
from axonad.errors import AxonADError, FileError
from axonad.report.table import Table

PICTURES = (".png", ".svg")


def check_folder(folder: Path | None) -> None:
    """Refuse, before any work, a folder for tables and figures that cannot be written to."""
    if folder is None:  # beside the rows
        return
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file; expected a folder for tables and figures")
    check_target(folder / "table.md", force=True)


def publish(
    folder: Path,
    *,
    tables: Mapping[str, Callable[[], Table]],
    figures: Mapping[str, Callable[[Path], None]],
) -> None:
    """Print the first table and write all there is, over what an earlier run wrote.

    What of the other tables and of the figures cannot be made is said, with the reason.
    """
    console = out()
    first, *more = tables
    made = {first: tables[first]()}
    console.print(render(made[first], "text"), markup=False)
    missing: list[tuple[str, str, AxonADError]] = []
    for name in more:
        try:
            made[name] = tables[name]()
        except AxonADError as error:
            missing.append(("table", name, error))
    write_tables(folder, made, force=True)
    drawn = []
    for name, draw in figures.items():
        try:
            for ending in PICTURES:
                draw(folder / f"{name}{ending}")
            drawn.append(name)
        except AxonADError as error:
            missing.append(("figure", name, error))
    pictures = f" and {', '.join(drawn)} (.png, .svg)" if drawn else ""
    console.print(f"wrote {', '.join(made)} (.md, .tex, .csv){pictures} to {folder}", markup=False)
    for kind, name, reason in missing:
        endings = PICTURES if kind == "figure" else ENDINGS.values()
        older = any((folder / f"{name}{ending}").exists() for ending in endings)
        said = f"{reason} (one of an earlier run stays)" if older else reason
        console.print(f"  no {kind} {name}: {said}", style="yellow", markup=False)
