"""A table of columns → a series: which column is time, which is the label, which are channels."""

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
    """Return the series in a table, its time and label columns set apart.

    ``first`` is the row of the file the table begins at, for messages that name a row.
    """
    for column in ignore:
        _require(frame, column, name)
    frame = frame.drop(*ignore)
    label = _special(frame, label, LABEL_COLUMNS, name)
    time = _special(frame, time, TIME_COLUMNS, name)
    channels = [column for column in frame.columns if column not in (label, time)]
    if not channels:
        raise InputError(f"{name} has no channel columns, only {frame.columns}")
    if frame.height == 0:
        raise InputError(f"{name} has a header but no rows")
    _check_numeric(frame, channels, name, first)
    values = frame.select(pl.col(channels).cast(pl.Float64)).fill_null(float("nan")).to_numpy()
    return Series(
        values=np.ascontiguousarray(values),
        channels=tuple(channels),
        labels=None if label is None else _labels(frame[label], name, first),
        times=None if time is None else frame[time].to_numpy(),
        name=name,
    )


def _special(
    frame: pl.DataFrame, asked: str | None, known: Collection[str], name: str
) -> str | None:
    """Return the column that was asked for, or the one of a well-known name, or None."""
    if asked is not None:
        _require(frame, asked, name)
        return asked
    found = [column for column in frame.columns if column.lower() in known]
    return found[0] if found else None


def _require(frame: pl.DataFrame, column: str, name: str) -> None:
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
            f"{first + row + 1}; leave it out (ignore) or name it as time"
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
