"""CSV files, plain or gzipped, with a header line."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from axonad.data.readers.asked import Asked
from axonad.data.readers.cells import DecimalMark, Place, to_numbers
from axonad.data.readers.columns import MISSING, Columns, choose_columns
from axonad.data.readers.dialect import COMMENTS, Dialect, find_dialect, option, shown
from axonad.data.readers.records import RecordReader, Records
from axonad.data.readers.source import Source
from axonad.data.readers.table import Table
from axonad.errors import FileError, InputError

BLOCK = 2**23  # bytes of text parsed at a time when a file is read at once
CHUNK_BLOCK = 2**20  # bytes read at a time for chunks
UNNAMED = "\0"  # with its number, the name of a column without one; no text has this character


def read_csv(
    origin: Path | bytes,
    *,
    shown_path: str,
    name: str,
    asked: Asked,
    separator: str | None = None,
    rows: int | None = None,
) -> Table:
    """Return the table in a CSV file, in parts of ``rows`` rows or of any number."""
    source = Source(origin, shown_path)
    try:
        reader = RecordReader(source, BLOCK if rows is None else CHUNK_BLOCK)
        dialect = find_dialect(reader, name=name, separator=separator)
        dialect = replace(dialect, names=tuple(asked.renamed(dialect.names, name=name)))
        columns = _choose(dialect, asked)
    except BaseException:
        source.close()
        raise
    notes: list[str] = []
    frames = CsvFrames(source, reader, dialect, columns, notes).frames(rows)
    units = None
    if dialect.units:
        by_name = dict(zip(dialect.names, dialect.units, strict=True))
        units = tuple(by_name[channel] for channel in columns.channels)
    return Table(
        columns, frames, notes=notes, has_text_times=True, units=units,
        may_have_comma=dialect.separator != ",",
    )  # fmt: skip


def _choose(dialect: Dialect, asked: Asked) -> Columns:
    """Return what the columns are for; a separator at the end of a line makes no column."""
    count = len(dialect.names) - len(dialect.unnamed)
    columns = choose_columns(dialect.names[:count], asked, name=dialect.name)
    if "" in columns.channels:
        number = dialect.names.index("") + 1
        raise InputError(
            f"column {number} of {dialect.name} has no name in line {dialect.header_line}; name "
            f"it, skip it with {option('ignore', '')} or read it as time with {option('time', '')}"
        )
    return columns


class CsvFrames:
    """Parses the records of a CSV file part by part."""

    def __init__(
        self,
        source: Source,
        reader: RecordReader,
        dialect: Dialect,
        columns: Columns,
        notes: list[str],
    ) -> None:
        self._source, self._reader, self._dialect = source, reader, dialect
        self._columns, self._notes = columns, notes
        self._mark = DecimalMark(dialect.separator != ",", is_comma=dialect.has_decimal_comma)
        self._is_plain = True  # until a cell is not a plain number
        self._first = 0  # rows before the next part

    def frames(self, rows: int | None) -> Iterator[pl.DataFrame]:
        """Yield the parts; the channels and labels are numbers, the times are text."""
        with self._source:
            while True:
                records = self._reader.take_block() if rows is None else self._reader.take(rows)
                if not records.count and self._first:
                    return
                yield self._parse(records) if records.count else self._empty()
                self._first += records.count

    def _empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=dict.fromkeys(self._columns.all, pl.String))

    def _parse(self, records: Records) -> pl.DataFrame:
        self._check_cells(records)
        frame = self._parse_plain(records) if self._is_plain else None
        if frame is None:
            text = self._parse_cells(records, numeric=frozenset())
            self._check_unnamed(text)
            place = Place(self._first, records.line_of)
            frame = to_numbers(text, self._columns, self._mark, place)
        return frame.select(self._columns.all)

    def _parse_plain(self, records: Records) -> pl.DataFrame | None:
        """Return the table if all cells are plain numbers with one decimal mark, else None."""
        has_point = b"." in records.text
        if self._mark.is_comma and has_point:
            return None
        columns = self._columns
        numeric = {*columns.channels, *filter(None, [columns.label])}
        try:
            frame = self._parse_cells(records, numeric=numeric)
        except FileError:
            self._is_plain = False
            return None
        self._check_unnamed(frame)
        if self._mark.may_be_comma and has_point:
            values = frame.select(columns.channels).to_numpy()
            self._mark.is_point |= bool((np.isfinite(values) & (values != np.floor(values))).any())
        return frame

    def _parse_cells(self, records: Records, *, numeric: Set[str]) -> pl.DataFrame:
        """Return the table with the ``numeric`` columns as numbers and the others as text."""
        dialect = self._dialect
        keys = [str(i) for i in range(len(dialect.names))]
        names = dict(zip(keys, dialect.names, strict=True))
        names |= {keys[i]: f"{UNNAMED}{i + 1}" for i in dialect.unnamed}
        wanted = {*self._columns.all, *(names[keys[i]] for i in dialect.unnamed)}
        header = dialect.separator.join(keys).encode() + b"\n"
        try:
            frame = pl.read_csv(
                header + records.text,
                separator=dialect.separator,
                columns=[key for key in keys if names[key] in wanted],
                null_values=list(MISSING),
                infer_schema_length=0,
                schema_overrides={key: pl.Float64() for key in keys if names[key] in numeric},
                decimal_comma=self._mark.is_comma,
            )
        except (pl.exceptions.PolarsError, OSError) as error:
            self._check_cells(records, exactly=True)
            raise self._malformed(records, str(error).splitlines()[0]) from None
        if frame.height != records.count:
            raise self._malformed(records, "a quotation mark inside of a cell")
        return frame.rename({key: names[key] for key in frame.columns})

    def _malformed(self, records: Records, reason: str) -> FileError:
        rows = f"rows {self._first} to {self._first + records.count - 1}"
        return FileError(f"{self._source.shown} cannot be read as CSV: {reason} ({rows})")

    def _check_unnamed(self, frame: pl.DataFrame) -> None:
        """Raise an error if cells below the last column name are filled."""
        for i in self._dialect.unnamed:
            cells = frame[f"{UNNAMED}{i + 1}"]
            rows = cells.is_not_null().arg_true()
            if len(rows):
                raise InputError(
                    f"column {i + 1} of {self._dialect.name} has no name in line "
                    f"{self._dialect.header_line}, but {shown(cells[int(rows[0])])} in row "
                    f"{self._first + int(rows[0])}; name it"
                )

    def _check_cells(self, records: Records, *, exactly: bool = False) -> None:
        """Raise an error for a row with more cells than the header; note one with fewer."""
        dialect = self._dialect
        most, least = len(dialect.names), len(dialect.names) - len(dialect.unnamed)
        marks = records.text.count(dialect.separator.encode())
        is_regular = b'"' not in records.text and marks == records.count * (most - 1)
        if is_regular and not exactly:
            return  # the parser refuses a row with more cells, and so finds a pair of wrong ones
        counts = records.cells(dialect.separator)
        for row in np.flatnonzero((counts > most) | (counts < least)).tolist():
            line = records.lines[row].decode()
            is_comment, is_long = line.lstrip().startswith(COMMENTS), counts[row] > most
            if not (is_comment or is_long or (line.strip() and not self._notes)):
                continue
            where = f"row {self._first + row} (line {records.line_of(row)})"
            if is_comment:
                raise InputError(
                    f"{where} of {dialect.name} is a comment ({shown(line)}); remove it"
                )
            if is_long:
                raise FileError(
                    f"{self._source.shown} cannot be read as CSV: {where} has {counts[row]} cells; "
                    f"expected {least} as in the header; if {dialect.separator!r} is not the "
                    "separator, pass separator=... (--separator ...)"
                )
            self._notes.append(
                f"{where} of {dialect.name} has {counts[row]} of {least} cells; the others count "
                "as missing"
            )
