"""Print lines, tables, JSON and errors on the terminal.

rich leaves out colours where NO_COLOR is set or the output is no terminal.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from axonad.cli.verbosity import is_quiet, is_verbose


def print_line(text: str, *, style: str | None = None) -> None:
    """Print one line of text to stdout; square brackets are not taken for markup."""
    _stdout().print(text, style=style, markup=False)


def print_table(table: Table) -> None:
    """Print a table to stdout."""
    _stdout().print(table)


def print_json(document: Any) -> None:
    """Print a document to stdout as one line of JSON; NaN and infinity become null."""
    text = json.dumps(_plain(document), ensure_ascii=False, allow_nan=False)
    sys.stdout.write(text + "\n")


def print_error(message: str) -> None:
    """Print an error message to stderr, as one red line."""
    _stderr().print(f"error: {' '.join(message.split())}", style="bold red", markup=False)


def print_note(message: str) -> None:
    """Print something the user should know to stderr, as one line, unless ``--quiet``."""
    if not is_quiet():
        _stderr().print(f"note: {' '.join(message.split())}", style="yellow", markup=False)


def print_status(message: str) -> None:
    """Print where a command stands to stderr, unless ``--quiet``."""
    if not is_quiet():
        _stderr().print(message, markup=False)


def print_detail(message: str) -> None:
    """Print what helps to find a fault to stderr, only with ``--verbose``."""
    if is_verbose():
        _stderr().print(message, style="dim", markup=False)


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
    return Console(highlight=False, soft_wrap=True, width=width, emoji=False)


def _stderr() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it.

    >>> _plain({"a": (1.0, math.inf), "b": {2}})
    {'a': [1.0, None], 'b': [2]}
    """
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)
