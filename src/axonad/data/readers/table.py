"""The table in a file part by part, and the pieces of a series made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from axonad.data.readers.about import About
from axonad.data.readers.cells import common_kind, convert_times, find_time_kind
from axonad.data.readers.columns import Columns, to_series, to_times
from axonad.data.series import Series
from axonad.errors import InputError


@dataclass
class Table:
    """A table in parts, each a frame of the columns to read.

    Parameters
    ----------
    columns
        What the columns are for.
    frames
        The parts: frames, or of a recording series, which need no conversion.
    rows
        The number of rows of all parts, where it is known.
    notes
        What the user should know; filled while the parts are read.
    has_text_times
        Whether the time column is text that may mean numbers.
    may_have_comma
        Whether such numbers may have a decimal comma.
    units
        The unit of each channel, where the file names units.
    about
        What became of the channels of a recording; filled with the last part.
    """

    columns: Columns
    frames: Iterator[pl.DataFrame] | Iterator[Series]
    rows: int | None = None
    notes: list[str] = field(default_factory=list)
    has_text_times: bool = False
    may_have_comma: bool = False
    units: tuple[str, ...] | None = None
    about: About | None = None


@dataclass(frozen=True)
class Piece:
    """Successive rows of a series."""

    series: Series
    rows: int | None = None  # of the whole series, where it is known
    notes: tuple[str, ...] = ()  # what the user should know of the file up to here


@dataclass(frozen=True)
class End:
    """What is known once all pieces are read."""

    times: NDArray[Any] | None = None  # of a series read at once
    time_kind: str | None = None  # of a series read in chunks
    notes: tuple[str, ...] = ()
    about: About | None = None  # of a recording


def pieces_of_whole(table: Table) -> Iterator[Piece | End]:
    """Yield the pieces of a series without times, then its times, which have one type."""
    columns, first = table.columns, 0
    untimed = Columns(columns.channels, columns.label, None, columns.name)
    times: list[Any] = []
    for part in table.frames:
        if isinstance(part, Series):
            yield Piece(replace(part, times=None), table.rows)
            times.append(part.times)
            continue
        series = to_series(part, untimed, first=first)
        yield Piece(replace(series, units=table.units), table.rows)
        first += part.height
        if columns.time is not None:
            times.append(part[columns.time])
    joined = None
    if times and isinstance(times[0], np.ndarray):
        joined = np.concatenate(times)
    elif columns.time is not None:
        whole = pl.concat(times)
        if table.has_text_times:
            kind = find_time_kind(whole, may_have_comma=table.may_have_comma)
            whole = convert_times(whole, kind, may_have_comma=table.may_have_comma)
        joined = to_times(whole, columns.name)
    yield End(times=joined, notes=tuple(table.notes), about=table.about)


def pieces_in_chunks(table: Table, time_kind: str | None) -> Iterator[Piece | End]:
    """Yield the pieces of a series with times of a known kind, or of the kind each shows."""
    columns, first = table.columns, 0
    kinds: set[str | None] = set()
    comma = table.may_have_comma
    for part in table.frames:
        if isinstance(part, Series):
            yield Piece(part, table.rows, tuple(table.notes))
            continue
        frame = part
        if columns.time is not None and table.has_text_times:
            text = part[columns.time]
            kind = time_kind or find_time_kind(text, may_have_comma=comma)
            kinds.add(kind)
            try:
                frame = part.with_columns(convert_times(text, kind, may_have_comma=comma))
            except pl.exceptions.PolarsError:
                raise InputError(
                    f"the times in column {columns.time!r} of {columns.name} were numbers when the "
                    "file was first read; leave the file unchanged while it is read"
                ) from None
        series = replace(to_series(frame, columns, first=first), units=table.units)
        yield Piece(series, table.rows, tuple(table.notes))
        first += frame.height
    yield End(time_kind=common_kind(kinds), notes=tuple(table.notes), about=table.about)
