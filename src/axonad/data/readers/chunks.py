"""Read files in chunks, for series larger than memory.

A Parquet slice decodes every row group it overlaps, so chunks much smaller than a row group are
slow. CSV, plain or gzipped, is read line by line and parsed chunk by chunk.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

import polars as pl

from axonad.config import check_int
from axonad.data.readers import find_reader
from axonad.data.readers.columns import TIME_COLUMNS, find_column, to_series
from axonad.data.readers.csv import check_header, open_bytes, parse_csv
from axonad.data.series import Series
from axonad.errors import FileError


class FileChunks:
    """The series in a CSV or Parquet file as chunks of at most ``size`` rows, in order.

    It can be iterated more than once. From the second complete iteration on, the time column has
    the same type in every chunk, the one it would have if the file were read at once.

    Parameters
    ----------
    path, label, time, ignore, separator
        As for :func:`axonad.data.readers.read`.
    size
        Largest number of rows in a chunk.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        size: int,
        label: str | None = None,
        time: str | None = None,
        ignore: Sequence[str] = (),
        separator: str = ",",
    ) -> None:
        check_int("chunk", size, low=1)
        self.path, self.size = Path(path), size
        find_reader(self.path)  # fail early if the file is missing or of another format
        self._label, self._time, self._ignore = label, time, tuple(ignore)
        self._separator = separator
        self._types: dict[str, pl.DataType] = {}

    def __iter__(self) -> Iterator[Series]:
        """Yield the chunks; errors name the row in the file."""
        is_parquet = self.path.name.lower().endswith(".parquet")
        first = 0
        seen: set[pl.DataType] = set()
        for frame in self._slices() if is_parquet else self._blocks():
            if frame.height == 0 and first:
                continue  # blank lines at the end of the file
            time = self._time_column(frame)
            if time is not None and frame[time].null_count() < frame.height:
                seen.add(frame.schema[time])
            asked = {"label": self._label, "time": self._time}
            yield to_series(frame, name=self.path.name, ignore=self._ignore, first=first, **asked)
            first += frame.height
        if seen and time is not None:
            self._types = {time: _common(seen)}

    def _time_column(self, frame: pl.DataFrame) -> str | None:
        columns = [name for name in frame.columns if name not in self._ignore]
        return find_column(columns, self._time, TIME_COLUMNS)

    def _slices(self) -> Iterator[pl.DataFrame]:
        try:
            lazy = pl.scan_parquet(self.path, glob=False)
            rows = int(lazy.select(pl.len()).collect().item())
            for start in range(0, max(rows, 1), self.size):
                yield lazy.slice(start, self.size).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise FileError(f"{self.path} cannot be read as Parquet: {reason}") from None

    def _blocks(self) -> Iterator[pl.DataFrame]:
        check_header(self.path, self._separator)
        try:
            with open_bytes(self.path) as file:
                header = _lines(file, 1)
                block = _lines(file, self.size)
                while True:
                    yield self._parsed(header + block)
                    if not (block := _lines(file, self.size)):
                        return
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise FileError(f"{self.path} cannot be read as CSV: {error}") from None

    def _parsed(self, text: bytes) -> pl.DataFrame:
        frame = parse_csv(text, path=self.path, separator=self._separator, types=self._types)
        time = self._time_column(frame)
        empty = [
            name
            for name, kind in frame.schema.items()
            if kind == pl.String and name != time and frame[name].null_count() == frame.height
        ]  # without values in this chunk polars cannot infer that the channel is numeric
        return frame.with_columns(pl.col(empty).cast(pl.Float64)) if frame.height else frame


def _common(kinds: set[pl.DataType]) -> pl.DataType:
    """Return the type that holds the values of all chunks of a column."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return pl.Float64() if all(kind.is_numeric() for kind in kinds) else pl.String()


def _lines(file: IO[bytes], count: int) -> bytes:
    """Return the next lines, more of them if a quoted field continues after the last."""
    lines = list(islice(file, count))
    is_open = sum(line.count(b'"') for line in lines) % 2
    while is_open and (line := file.readline()):
        lines.append(line)
        is_open ^= line.count(b'"') % 2
    return b"".join(lines)
