"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from axonad.data.readers.asked import Asked
from axonad.data.readers.columns import check_flat, choose_columns
from axonad.data.readers.limits import largest_series
from axonad.data.readers.table import Table
from axonad.errors import FileError, InputError

MAGIC = b"PAR1"
SMALLEST = 12  # bytes: the magic bytes at both ends and the length of the footer
DATED = (pl.Datetime, pl.Date, pl.Duration)
PIECE = 2**22  # values of a part when a file is read at once


def read_parquet(
    origin: Path,
    *,
    shown_path: str,
    name: str,
    asked: Asked,
    separator: str | None = None,
    rows: int | None = None,
) -> Table:
    """Return the table in a Parquet file, in parts of ``rows`` rows or of any number."""
    check_ends(origin, shown_path)
    try:
        lazy = pl.scan_parquet(origin, glob=False)
        schema = lazy.collect_schema()
        names = asked.renamed(schema, name=name)
        if asked.rename:
            lazy = lazy.rename(dict(zip(schema, names, strict=True)))
            schema = lazy.collect_schema()
        dated = [column for column, kind in schema.items() if isinstance(kind, DATED)]
        columns = choose_columns(names, asked, name=name, dated=dated)
        for column in columns.all:
            check_flat(column, schema[column], name)
        count = int(lazy.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(shown_path, error) from None
    if rows is None:
        check_size(count, len(columns.channels), shown_path)
    frames = _frames(lazy.select(columns.all), count, rows, shown_path)
    return Table(columns, frames, rows=count)


def check_ends(path: Path, shown: str) -> None:
    """Raise an error unless a file begins and ends as a Parquet file does."""
    try:
        with path.open("rb") as file:
            begin = file.read(len(MAGIC))
            size = file.seek(0, 2)
            file.seek(max(0, size - 8))
            end = file.read(8)
    except OSError as error:
        raise FileError(f"{shown} cannot be read: {error.strerror}") from None
    if size == 0:
        raise InputError(f"{shown} is empty; expected a Parquet file")
    problem = ""
    if begin != MAGIC:
        problem = f"it begins with {begin!r}; expected {MAGIC!r}"
    elif size < SMALLEST or end[4:] != MAGIC:
        problem = f"its end is missing (no {MAGIC!r}); the file may be incomplete"
    elif not 0 < int.from_bytes(end[:4], "little") <= size - SMALLEST:
        problem = "its footer is larger than the file"
    if problem:
        raise FileError(f"{shown} cannot be read as Parquet: {problem}")


def check_size(rows: int, channels: int, shown: str) -> None:
    """Raise an error if the values of a series do not fit in memory."""
    limit = largest_series()
    if rows * channels * 8 > limit:
        raise FileError(
            f"{shown} holds more than {limit / 2**30:.3g} GiB of values, too much to read at once "
            "on this machine; score it in chunks (axonad score --chunk ROWS)"
        )


def _frames(lazy: pl.LazyFrame, count: int, rows: int | None, shown: str) -> Iterator[pl.DataFrame]:
    try:
        found = 0
        if rows is not None:
            for start in range(0, max(count, 1), rows):
                frame = lazy.slice(start, rows).collect()
                found += frame.height
                _check_count(found, min(start + rows, count), shown)
                yield frame
            return
        frame = lazy.collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, FileError):
            raise
        raise _unreadable(shown, error) from None
    _check_count(frame.height, count, shown)
    yield from frame.iter_slices(max(1, PIECE // frame.width))
    if not frame.height:
        yield frame


def _check_count(found: int, expected: int, shown: str) -> None:
    if found != expected:
        raise FileError(
            f"{shown} cannot be read as Parquet: it holds {found} rows where its footer says "
            f"{expected}; the file is damaged"
        )


def _unreadable(shown: str, error: Exception) -> FileError:
    return FileError(f"{shown} cannot be read as Parquet: {str(error).splitlines()[0]}")
