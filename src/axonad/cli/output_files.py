"""Check where a command may write, before it starts; write tables as CSV or Parquet."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from axonad import atomic
from axonad.errors import DataWarning, FileError, MissingDependencyError, UnknownNameError
from axonad.report.drawing import check_format

TABLE_ENDINGS = (".csv", ".parquet")


def check_output(
    path: Path, *, force: bool, inputs: Iterable[Path] = (), endings: Collection[str] = ()
) -> None:
    """Raise if ``path`` has none of the ``endings``, exists already or cannot be written.

    ``force`` allows overwriting an earlier result, but never one of the command's ``inputs``.
    """
    if endings and path.suffix.lower() not in endings:
        raise UnknownNameError(
            f"cannot write {path.name!r}: its ending must be one of {', '.join(endings)}"
        )
    if path.is_dir():
        raise FileError(f"{path} is a folder; expected a file name")
    if path.exists() and not path.is_file():
        raise FileError(f"{path} is not a regular file; choose another name to write to")
    if path.exists() and any(path.samefile(source) for source in inputs if source.exists()):
        raise FileError(f"{path} is an input of this command; choose another name to write to")
    if path.exists() and not force:
        raise FileError(f"{path} already exists; choose another name or pass --force")
    parent = next(p for p in path.absolute().parents if p.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise FileError(f"cannot write {path}: {parent} is not a writable folder")


def can_draw_to(figure: Path) -> bool:
    """Whether matplotlib is installed; if not, say so and go on without the figure."""
    try:
        check_format(figure)
    except MissingDependencyError as error:
        warnings.warn(f"no {figure.name} is drawn: {error}", DataWarning, stacklevel=2)
        return False
    return True


def to_frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return columns as a table in which NaN is an empty cell."""
    frame = pl.DataFrame(dict(columns))
    return frame.with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None))


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns as CSV or Parquet; an error or interrupt leaves no partial file."""
    frame = to_frame(columns)
    write = frame.write_csv if path.suffix.lower() == ".csv" else frame.write_parquet
    with atomic.replacement(path) as temporary:
        write(temporary)
