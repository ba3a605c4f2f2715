"""Read a file at once or in chunks, in the reader process or, where there is none, in this one."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.readers import limits, process
from axonad.data.readers.about import About
from axonad.data.readers.request import CSV, Request, read_pieces
from axonad.data.readers.table import End, Piece
from axonad.data.readers.wire import Buffer
from axonad.data.series import Series
from axonad.data.time_columns import may_be_time, only_increases, taken_as_time
from axonad.errors import DataWarning, FileError


def read_whole(request: Request, data: bytes | None = None) -> Series:
    """Return the series in a file, or in the bytes of one."""
    series, end = read_described(request, data)
    warn_of(end.notes, stacklevel=3)
    return series


def read_described(request: Request, data: bytes | None = None) -> tuple[Series, End]:
    """Return the series in a file and what is known of it."""
    whole = _Whole(request.shown)
    with closing(stream_pieces(request, data, whole.buffer)) as pieces:
        for piece in pieces:
            whole.add(piece)
    series = whole.join()
    if request.is_recording:
        return mark_missing(_with_hold(series, whole.end.about)), whole.end
    if request.asked.known is None and series.times is None:
        series, end = _take_time(series, whole.end, named=request.asked.channels)
    else:
        end = whole.end
    if request.asked.max_age is not None:
        hold = tuple(request.asked.age(name) or 0 for name in series.channels)
        series = replace(series, hold=hold)
    return series, end


def _take_time(series: Series, end: End, *, named: Collection[str]) -> tuple[Series, End]:
    """Return a table whose time is among its channels with it as time, and the note that says so.

    Channels that the caller has ``named`` stay channels, and so does an only one.
    """
    for column, name in enumerate(series.channels if len(series.channels) > 1 else ()):
        times = series.values[:, column]
        if name not in named and may_be_time(name) and only_increases(times):
            break
    else:
        return series, end
    rest = series.keep(one for one in series.channels if one != name)
    note = taken_as_time(name, f"channels=[{name!r}, '*'] keeps it a channel")
    return replace(rest, times=times.copy()), replace(end, notes=(*end.notes, note))


def _with_hold(series: Series, about: About | None) -> Series:
    """Return the series of a recording with the times for which its values were held."""
    known = {} if about is None else {one.name: one.max_age for one in about.used}
    return replace(series, hold=tuple(known.get(name) or 0 for name in series.channels))


def mark_missing(series: Series) -> Series:
    """Return a series in which rows with missing values are marked unusable."""
    missing: NDArray[np.bool_] = np.asarray(np.isnan(series.values).any(axis=1))
    return replace(series, unusable=missing) if missing.any() else series


def read_bytes(data: bytes, name: str) -> Series:
    """Return the series in the bytes of a CSV file."""
    return read_whole(Request(target=CSV, shown=name, name=name, size=len(data)), data)


def stream_pieces(
    request: Request, data: bytes | None = None, buffer: Buffer | None = None
) -> Generator[Piece | End]:
    """Yield the pieces of a series; ``buffer`` may provide the array of a piece's values."""
    reader = process.borrow()
    if reader is None:
        yield from read_pieces(request, data)
        return
    seconds = limits.seconds_for(request.size)
    deadline = time.monotonic() + seconds
    try:
        piece = reader.ask(request, deadline=deadline, is_first=True, data=data, buffer=buffer)
        while True:
            yield piece
            if isinstance(piece, End):
                return
            if request.rows is not None:
                deadline = time.monotonic() + seconds  # of the next chunk
            piece = reader.ask(request, deadline=deadline, buffer=buffer)
    finally:
        process.give_back(reader, request)


def warn_of(notes: tuple[str, ...], stacklevel: int = 2) -> None:
    """Tell the user what was noted about a file."""
    for note in notes:
        warnings.warn(note, DataWarning, stacklevel=stacklevel + 1)


class _Whole:
    """Joins the pieces of a series."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._limit = limits.largest_series()
        self._pieces: list[Series] = []
        self._values: NDArray[np.float64] | None = None  # of all rows, if their number is known
        self._rows = self._bytes = 0
        self.end = End()

    def buffer(self, header: dict[str, Any]) -> NDArray[np.float64] | None:
        """Return the array for the values of a piece, if the number of all rows is known."""
        rows, channels = header["arrays"]["values"][1]
        total = rows if header["rows"] is None else header["rows"]
        self._check(max(total * channels * 8, self._bytes + rows * channels * 8))
        if header["rows"] is None:
            return None
        if self._values is None:
            self._values = np.empty((total, channels))
        return self._values[self._rows : self._rows + rows]

    def add(self, piece: Piece | End) -> None:
        """Add the next piece."""
        if isinstance(piece, End):
            self.end = piece
            return
        self._bytes += piece.series.values.nbytes
        self._rows += len(piece.series)
        self._check(self._bytes)
        self._pieces.append(piece.series)

    def join(self) -> Series:
        """Return the series of all pieces."""
        first, pieces = self._pieces[0], self._pieces
        if len(pieces) == 1:
            return replace(first, times=self.end.times)
        values = self._values
        if values is None:
            values = np.concatenate([piece.values for piece in pieces])
        labels = [piece.labels for piece in pieces if piece.labels is not None]
        joined = np.concatenate(labels) if labels else None
        return replace(first, values=values, labels=joined, times=self.end.times)

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise FileError(
                f"{self._shown} holds more than {self._limit / 2**30:.3g} GiB of values, too much "
                "to read at once on this machine; score it in chunks (axonad score --chunk ROWS)"
            )
