"""Convert a table to a series: find the time and label columns, check the channels."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from axonad.data.series import Series
from axonad.errors import ChannelError, InputError, suggest

TIME_COLUMNS = ("time", "timestamp", "t_s")
LABEL_COLUMNS = ("label",)
MISSING = ("", "NA", "N/A", "null", "None")


def to_series(
    frame: pl.DataFrame,
    *,
    name: str,
    label: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    first: int = 0,
) -> Series:
    """Return the series in a table; its time and label columns are not channels.

    ``first`` is the number of rows of the file before the table, for rows named in messages.
    """
    for column in ignore:
        _check_column(frame, column, name)
    frame = frame.drop(*ignore)
    for column in filter(None, (label, time)):
        _check_column(frame, column, name)
    label = find_column(frame.columns, label, LABEL_COLUMNS)
    time = find_column(frame.columns, time, TIME_COLUMNS)
    channels = [column for column in frame.columns if column not in (label, time)]
    if not channels:
        raise InputError(
            f"{name} has no channel columns, only {frame.columns}; expected at least one more"
        )
    if frame.height == 0:
        raise InputError(f"{name} has a header but no rows; expected at least one")
    _check_numeric(frame, channels, name, first)
    values = frame.select(pl.col(channels).cast(pl.Float64)).fill_null(float("nan")).to_numpy()
    return Series(
        values=np.ascontiguousarray(values),
        channels=tuple(channels),
        labels=None if label is None else _labels(frame[label], name, first),
        times=None if time is None else frame[time].to_numpy(),
        name=name,
    )


def find_column(columns: Sequence[str], asked: str | None, known: Collection[str]) -> str | None:
    """Return the requested column, else the first one of a known name (any case), else None."""
    if asked in columns:
        return asked
    return next((column for column in columns if column.lower() in known), None)


def _check_column(frame: pl.DataFrame, column: str, name: str) -> None:
    if column not in frame.columns:
        hint = suggest(column, frame.columns) or f"; columns: {', '.join(frame.columns[:10])}"
        raise ChannelError(f"{name} has no column {column!r}{hint}")


def _check_numeric(frame: pl.DataFrame, channels: Sequence[str], name: str, first: int) -> None:
    for column in channels:
        kind = frame[column].dtype
        if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
            continue
        text = frame[column].cast(pl.String, strict=False)
        numbers = text.cast(pl.Float64, strict=False)
        bad = (text.is_not_null() & numbers.is_null()).arg_true()
        row = int(bad[0]) if len(bad) else 0
        raise InputError(
            f"column {column!r} of {name} is not numeric: {text[row]!r} in data row "
            f"{first + row + 1}; skip the column (ignore) or declare it as time"
        )


def _labels(column: pl.Series, name: str, first: int) -> NDArray[np.int8]:
    values = column.cast(pl.Float64, strict=False).to_numpy()
    bad = ~np.isin(values, (0.0, 1.0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"labels in column {column.name!r} of {name} must be 0 or 1, "
            f"got {column[row]!r} in data row {first + row + 1}"
        )
    return values.astype(np.int8)
