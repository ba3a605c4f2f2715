"""CSV files, plain or gzipped, with a header line."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from axonad.data.frames import check_unique
from axonad.data.readers.columns import MISSING
from axonad.errors import FileError, InputError


def read_csv(path: Path, *, separator: str = ",") -> pl.DataFrame:
    """Return the table in a CSV file; the first line names the columns."""
    check_header(path, separator)
    return parse_csv(path, path=path, separator=separator)


def check_header(path: Path, separator: str) -> None:
    """Refuse a CSV file whose first line does not name the columns, each once."""
    if len(separator) != 1:
        raise InputError(f"separator must be one character, got {separator!r}")
    header = _header(path, separator)
    if len(header) == 1 and ";" in header[0]:
        raise InputError(f"{path.name} seems to be separated by ';'; pass separator=';'")
    check_unique(header)
    if all(_is_number(name) for name in header) and not _counts_up(header):
        raise InputError(
            f"{path.name} has no header line: it starts with numbers; put channel names on top"
        )


def parse_csv(
    source: Path | bytes,
    *,
    path: Path,
    separator: str,
    types: Mapping[str, pl.DataType] | None = None,
) -> pl.DataFrame:
    """Return the table in a CSV file or a part of it; ``types`` says what need not be inferred."""
    try:
        return pl.read_csv(
            source,
            separator=separator,
            null_values=list(MISSING),
            infer_schema_length=None,
            schema_overrides=dict(types or {}),
        )
    except pl.exceptions.NoDataError:
        raise InputError(f"{path.name} is empty") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise FileError(f"{path} cannot be read as CSV: {reason}") from None


def _header(path: Path, separator: str) -> list[str]:
    try:
        opened = gzip.open if path.name.lower().endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file, delimiter=separator), [])
    except (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise FileError(f"{path} cannot be read as CSV: {error}") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    if not header:
        raise InputError(f"{path.name} is empty")
    return header


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _counts_up(header: list[str]) -> bool:
    """Say whether a header of numbers is a plain numbering 0, 1, 2, … of channels."""
    return header in (
        [str(i) for i in range(len(header))],
        [str(i + 1) for i in range(len(header))],
    )
