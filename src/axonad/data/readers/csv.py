"""CSV files, plain or gzipped, with a header line."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, cast

import polars as pl

from axonad.data.frames import check_unique
from axonad.data.readers.columns import MISSING
from axonad.errors import FileError, InputError


def read_csv(path: Path, *, separator: str = ",") -> pl.DataFrame:
    """Return the table in a CSV file with a header line."""
    check_header(path, separator)
    return parse_csv(path, path=path, separator=separator)


def check_header(path: Path, separator: str) -> None:
    """Raise an error unless the first line of a CSV file names the columns, each once."""
    if len(separator) != 1:
        raise InputError(f"separator must be one character, got {separator!r}")
    try:
        with io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file, delimiter=separator), [])
    except (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise FileError(f"{path} cannot be read as CSV: {error}") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    if not header:
        raise InputError(f"{path.name} is empty; expected a header line and rows")
    if len(header) == 1 and ";" in header[0]:
        raise InputError(f"{path.name} seems to be separated by ';'; pass separator=';'")
    check_unique(header)
    if all(_is_number(name) for name in header) and not _counts_up(header):
        raise InputError(
            f"{path.name} has no header line: it starts with numbers; add a line of channel names"
        )


def parse_csv(
    source: Path | bytes,
    *,
    path: Path,
    separator: str,
    types: Mapping[str, pl.DataType] | None = None,
) -> pl.DataFrame:
    """Return the table in a CSV file or a part of it; ``types`` sets the types of some columns."""
    try:
        return pl.read_csv(
            source,
            separator=separator,
            null_values=list(MISSING),
            infer_schema_length=None,
            schema_overrides=dict(types or {}),
        )
    except pl.exceptions.NoDataError:
        raise InputError(f"{path.name} is empty; expected a header line and rows") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise FileError(f"{path} cannot be read as CSV: {reason}") from None


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressed if its suffix is ``.gz``."""
    if path.name.lower().endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _counts_up(header: list[str]) -> bool:
    """Return whether a header numbers the channels from 0 or from 1."""
    return any(header == [str(first + i) for i in range(len(header))] for first in (0, 1))
