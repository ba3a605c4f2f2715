"""Print lines, tables and errors on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Collection

from rich.console import Console
from rich.table import Table


def print_line(text: str, *, style: str | None = None) -> None:
    """Print one line of text to stdout; square brackets are not taken for markup."""
    _stdout().print(text, style=style, markup=False)


def print_table(table: Table) -> None:
    """Print a table to stdout."""
    _stdout().print(table)


def print_error(message: str) -> None:
    """Print an error message to stderr, as one red line."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        f"error: {' '.join(message.split())}", style="bold red", markup=False
    )


def print_note(message: str) -> None:
    """Print something the user should know to stderr, as one line."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        f"note: {' '.join(message.split())}", style="yellow", markup=False
    )


def plain_table(*headings: str, numeric: Collection[str] = (), bold_first: bool = False) -> Table:
    """Return an empty table without borders; ``numeric`` columns are right-aligned."""
    table = Table(box=None, pad_edge=False)
    for i, heading in enumerate(headings):
        table.add_column(
            heading,
            justify="right" if heading in numeric else "left",
            style="bold" if bold_first and i == 0 else None,
        )
    return table


def _stdout() -> Console:
    # Outside a terminal rich assumes 80 columns, which would squeeze the tables.
    width = None if sys.stdout.isatty() else 140
    return Console(highlight=False, soft_wrap=True, width=width)
