"""Which columns of a table are time, labels and channels, and the series they make."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from axonad.data.readers.asked import Asked, check_matches, missing_name
from axonad.data.readers.dialect import NO_VALUES, option, shown
from axonad.data.series import Series
from axonad.data.time_columns import find_time_column
from axonad.errors import InputError

LABEL_COLUMNS = ("label",)
MISSING = NO_VALUES
THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d+)?\s*")


@dataclass(frozen=True)
class Columns:
    """What each column of a table is for; those that are ignored are absent."""

    channels: tuple[str, ...]
    label: str | None
    time: str | None
    name: str  # of the file, for messages

    @property
    def all(self) -> list[str]:
        """The columns to read."""
        return [*self.channels, *filter(None, (self.label, self.time))]


def choose_columns(
    names: Sequence[str], asked: Asked, *, name: str, dated: Collection[str] = ()
) -> Columns:
    """Return what the columns of a file are for; raise an error if a named one is missing.

    ``dated`` are the columns of datetimes, where the file tells types.
    """
    ignored = check_matches(asked.ignore, names, name=name)
    names = [column for column in names if column not in ignored]
    for column in filter(None, (asked.label, asked.time)):
        if column not in names:
            raise missing_name(column, names, name=name, what="column")
    label, time = asked.label, asked.time
    if label is None:
        label = next((column for column in names if column.lower() in LABEL_COLUMNS), None)
    if time is None:
        others = [column for column in names if column not in asked.channels]
        time = find_time_column(others, known=asked.known, dated=dated)
    channels = tuple(column for column in names if column not in (label, time))
    wanted = asked.wanted(channels, name=name)
    channels = tuple(column for column in channels if column in wanted)
    if not channels:
        raise InputError(
            f"{name} has no channel columns, only {list(names)}; expected at least one more"
        )
    return Columns(channels, label, time, name)


def to_series(frame: pl.DataFrame, columns: Columns, *, first: int = 0) -> Series:
    """Return the series in a table.

    ``first`` is the number of rows of the file before the table, for rows named in messages.
    """
    if frame.height == 0:
        raise InputError(f"{columns.name} has a header but no rows; expected at least one")
    _check_numeric(frame, columns, first)
    numbers = frame.select(pl.col(columns.channels).cast(pl.Float64)).fill_null(float("nan"))
    return Series(
        values=np.ascontiguousarray(numbers.to_numpy(order="c")),
        channels=columns.channels,
        labels=None if columns.label is None else _labels(frame[columns.label], columns, first),
        times=None if columns.time is None else to_times(frame[columns.time], columns.name),
        name=columns.name,
    )


def to_times(column: pl.Series, name: str) -> NDArray[Any]:
    """Return a time column as numbers, datetimes, or an object array of text and None."""
    kind = column.dtype
    check_flat(column.name, kind, name)
    if kind in (pl.Categorical, pl.Enum, pl.Time):
        column = column.cast(pl.String)
    elif kind in (pl.Boolean, pl.Null) or (kind.is_numeric() and not _is_numpy_number(kind)):
        column = column.cast(pl.Float64)
    times = column.to_numpy()
    return times if times.dtype.kind in "iufMm" else times.astype(object)


def check_flat(column: str, kind: pl.DataType, name: str) -> None:
    """Raise an error if a column holds lists, records or bytes."""
    if kind.is_nested():
        what = "records" if kind == pl.Struct else "lists"
    elif kind in (pl.Binary, pl.Object):
        what = "bytes" if kind == pl.Binary else "objects"
    else:
        return
    raise InputError(
        f"column {column!r} of {name} holds {what}; expected numbers; skip it with "
        f"{option('ignore', column)}"
    )


def not_numeric(column: str, name: str, cell: object, row: int, where: str = "") -> InputError:
    """Return the error for a cell that is not a number; rows count from 0."""
    if THOUSANDS.fullmatch(str(cell)):
        return InputError(
            f"column {column!r} of {name} has {shown(cell)} in row {row}{where}; write "
            "numbers without thousands separators"
        )
    return InputError(
        f"column {column!r} of {name} is not numeric: {shown(cell)} in row {row}{where}; skip "
        f"it with {option('ignore', column)} or read it as time with {option('time', column)}"
    )


def wrong_label(column: str, name: str, cell: object, row: int) -> InputError:
    """Return the error for a label that is neither 0 nor 1; rows count from 0."""
    if isinstance(cell, float):
        got = f"{cell:g}"
    else:
        got = "a missing value" if cell is None else shown(cell)
    return InputError(
        f"labels in column {column!r} of {name} must be 0 or 1, got {got} in row {row}; skip "
        f"it with {option('ignore', column)}"
    )


def _is_numpy_number(kind: pl.DataType) -> bool:
    return kind.is_float() or str(kind) in {f"{u}Int{bits}" for u in ("", "U") for bits in BITS}


BITS = (8, 16, 32, 64)


def _check_numeric(frame: pl.DataFrame, columns: Columns, first: int) -> None:
    schema = frame.schema
    for column in columns.channels:
        kind = schema[column]
        if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
            continue
        check_flat(column, kind, columns.name)
        text = frame[column].cast(pl.String, strict=False)
        numbers = text.cast(pl.Float64, strict=False)
        bad = (text.is_not_null() & numbers.is_null()).arg_true()
        row = int(bad[0]) if len(bad) else 0
        raise not_numeric(column, columns.name, text[row], first + row)


def _labels(column: pl.Series, columns: Columns, first: int) -> NDArray[np.int8]:
    check_flat(column.name, column.dtype, columns.name)
    numbers = column.cast(pl.Float64, strict=False)
    values = numbers.to_numpy()
    bad = ~np.isin(values, (0.0, 1.0))
    if bad.any():
        row = int(np.argmax(bad))
        cell = column[row] if numbers[row] is None else numbers[row]
        raise wrong_label(column.name, columns.name, cell, first + row)
    return values.astype(np.int8)
