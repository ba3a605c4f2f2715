"""Lines of a live stream as rows: JSON objects, or CSV with or without a header.

The first line that is not blank decides the format for the whole stream; :class:`LineReader` reads
each line after it in that format. A line that does not fit is a row of its own, with the reason in
place of the values, so that every line of data counts as one step.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from axonad.cli.csv_header import (
    Header,
    is_header,
    parse_number,
    read_header,
    split_cells,
    split_line,
)
from axonad.data.frames import Names
from axonad.data.readers.columns import LABEL_COLUMNS, MISSING
from axonad.data.time_columns import find_time_column
from axonad.data.timing import to_second
from axonad.errors import InputError

FORMATS = ("json", "csv")
LONGEST = 1_000_000  # characters; a longer line is not read into memory
BLANK = " \r\n\v\f\ufeff"

Values = dict[str, Any] | list[float | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the input: its values, or why they cannot be read, and its time.

    ``time`` is as it came, None if it is missing; ``second`` is None if it cannot be read.
    """

    values: Values | InputError
    has_time: bool = False
    time: str | float | None = None
    second: float | None = None


class LineReader:
    """Reads lines in the format of the first one.

    Parameters
    ----------
    names, channels
        Names of the model's channels, None if it has none, and their number.
    form
        ``"json"`` or ``"csv"``; None to decide by the first line.
    time
        Name of the time column; None for the usual names.
    ignore_extra
        Whether columns the model does not know are dropped instead of refused.
    left_out
        Channels that are dropped, should a JSON object have them.
    """

    def __init__(
        self,
        names: Names,
        channels: int,
        *,
        form: str | None = None,
        time: str | None = None,
        ignore_extra: bool = False,
        left_out: Sequence[str] = (),
    ) -> None:
        self._names, self._channels, self._form = names, channels, form
        self._time, self._ignore_extra = time, ignore_extra
        self._known = frozenset(names or ())
        self._left_out = frozenset(left_out)
        self._separator = ","
        self._header: Header | None = None
        self._decided = False

    def read(self, lines: Iterable[str]) -> Iterator[Row]:
        """Yield the rows; raise InputError if the header cannot serve."""
        for line in lines:
            text = line.strip(BLANK)
            if not text or (self._separator != "\t" and not text.strip()):
                continue
            if self._decided or not self._decide(text):
                yield self._parse(text)

    def _decide(self, text: str) -> bool:
        """Decide the format by the first line; return whether it is a header.

        A line that no CSV reader takes decides nothing.
        """
        if self._form == "json" or (self._form is None and text.lstrip().startswith("{")):
            self._form, self._decided = "json", True
            return False
        try:
            self._separator, cells = split_line(text, self._names)
        except csv.Error:
            return False
        self._form, self._decided = "csv", True
        if not is_header(cells, self._names):
            return False
        self._header = read_header(
            cells, self._names, channels=self._channels, time=self._time,
            ignore_extra=self._ignore_extra,
        )  # fmt: skip
        return True

    def _parse(self, text: str) -> Row:
        if len(text) > LONGEST:
            return Row(InputError(f"the line has more than {LONGEST} characters"))
        return self._parse_json(text) if self._form == "json" else self._parse_csv(text)

    def _parse_json(self, text: str) -> Row:
        try:
            found = json.loads(text, object_pairs_hook=_check_pairs)
        except InputError as error:
            return Row(error)
        except (ValueError, RecursionError) as error:
            return Row(InputError(f"not a JSON object: {error}"))
        if not isinstance(found, dict):
            return Row(InputError(f"not a JSON object: {text.strip():.80}"))
        others = [name for name in found if name not in self._known]
        key = self._time if self._time in found else None
        if self._time is None:
            key = find_time_column(others, known=())
        dropped = {
            key,
            *self._left_out,
            *(name for name in others if name.lower() in LABEL_COLUMNS),
        }
        values = {name: value for name, value in found.items() if name not in dropped}
        return Row(values) if key is None else _with_time(values, found[key])

    def _parse_csv(self, text: str) -> Row:
        try:
            cells = split_cells(text, self._separator)
        except csv.Error as error:
            return Row(InputError(f"not a CSV line: {error}"))
        header = self._header
        if header is None:
            return Row(_to_numbers(cells))
        if len(cells) != header.width:
            message = f"expected {header.width} values as in the header, got {len(cells)}"
            return Row(InputError(message))
        numbers = _to_numbers([cells[i] for i in header.columns])
        values: Values | InputError = numbers
        if header.channels is not None and isinstance(numbers, list):
            values = dict(zip(header.channels, numbers, strict=True))
        if header.time is None:
            return Row(values)
        return _with_time(values, _read_cell(cells[header.time]))


def read_lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines of a stream; of a very long one only the beginning, in bounded memory."""
    while line := stream.readline(LONGEST + 1):
        yield line
        while len(line) > LONGEST and not line.endswith("\n"):
            line = stream.readline(LONGEST + 1)


def _with_time(values: Values | InputError, time: Any) -> Row:
    """Return a row with a time as it came."""
    if isinstance(time, bool) or not isinstance(time, str | int | float):
        return Row(values, has_time=True)
    if not isinstance(time, str) and not _is_finite(time):
        return Row(values, has_time=True)
    try:
        return Row(values, True, time, to_second(time))
    except InputError:
        return Row(values, True, time)


def _read_cell(cell: str) -> str | float | None:
    """Return the time in a cell: a number, text, or None if it is missing."""
    text = cell.strip()
    if text in MISSING:
        return None
    number = parse_number(text)
    if number is None:
        return text
    return int(text) if text.isdecimal() and len(text) < 300 else number


def _to_numbers(cells: Sequence[str]) -> list[float | None] | InputError:
    """Return the numbers in cells, None where one is missing."""
    values: list[float | None] = []
    for cell in cells:
        is_missing = cell.strip() in MISSING
        number = None if is_missing else parse_number(cell)
        if number is None and not is_missing:
            comma = cell.count(",") == 1 and parse_number(cell.replace(",", ".")) is not None
            hint = "; write a decimal point" if comma else ""
            return InputError(f"{cell.strip()[:80]!r} is not a number{hint}")
        values.append(number)
    return values


def _check_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise InputError if a name appears twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{twice[:80]!r} appears more than once in the object")
    return found


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer beyond the range of floats
        return False
