"""What an experiment shows at its end: tables and figures, and why one of them is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from axonad.cli.bench.options import render, write_tables
from axonad.cli.terminal import out
from axonad.errors import AxonADError
from axonad.report.table import Table


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
    missing: dict[str, AxonADError] = {}
    for name in more:
        try:
            made[name] = tables[name]()
        except AxonADError as error:
            missing[f"table {name}"] = error
    write_tables(folder, made, force=True)
    drawn = []
    for name, draw in figures.items():
        try:
            for ending in (".png", ".svg"):
                draw(folder / f"{name}{ending}")
            drawn.append(name)
        except AxonADError as error:
            missing[f"figure {name}"] = error
    pictures = f" and {', '.join(drawn)} (.png, .svg)" if drawn else ""
    console.print(f"wrote {', '.join(made)} (.md, .tex, .csv){pictures} to {folder}", markup=False)
    for name, reason in missing.items():
        console.print(f"  no {name}: {reason}", style="yellow", markup=False)
