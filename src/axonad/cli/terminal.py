"""What the commands print and write: errors in red, tables, files that are never overwritten."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from axonad import atomic
from axonad.errors import FileError, UnknownNameError

WRITERS = (".csv", ".parquet")


def out() -> Console:
    """Return the console for results; in a pipe, where nobody folds lines, a wide one."""
    width = None if sys.stdout.isatty() else 140
    return Console(highlight=False, soft_wrap=True, width=width)


def say_error(message: str) -> None:
    """Print one red line to stderr."""
    line = " ".join(message.split())
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        f"error: {line}", style="bold red", markup=False
    )


def check_target(path: Path, *, force: bool, reads: Iterable[Path] = ()) -> None:
    """Refuse, before any work, a target that exists, cannot be written, or is among what is read.

    ``force`` allows replacing an earlier result, never what the command ``reads``.
    """
    if path.is_dir():
        raise FileError(f"{path} is a folder; expected a file name")
    if path.exists() and any(path.samefile(source) for source in reads if source.exists()):
        raise FileError(f"{path} is a file this command reads; choose another name to write to")
    if path.exists() and not force:
        raise FileError(f"{path} already exists; choose another name or pass --force")
    parent = next(p for p in path.absolute().parents if p.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise FileError(f"cannot write {path}: {parent} is no folder that can be written to")


def check_table_target(path: Path, *, force: bool, reads: Iterable[Path] = ()) -> None:
    """As :func:`check_target`, for a table."""
    if path.suffix.lower() not in WRITERS:
        raise UnknownNameError(
            f"cannot write {path.name!r}: its ending must be one of {', '.join(WRITERS)}"
        )
    check_target(path, force=force, reads=reads)


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns as CSV or Parquet, whole or not at all."""
    import polars as pl

    frame = pl.DataFrame(dict(columns))
    with atomic.replacement(path) as temporary:
        if path.suffix.lower() == ".csv":
            frame.write_csv(temporary)
        else:
            frame.write_parquet(temporary)
