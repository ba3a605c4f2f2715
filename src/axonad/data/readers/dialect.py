"""How a CSV file is written: its separator, its decimal mark and its column names."""

from __future__ import annotations

import csv
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from axonad.data.frames import check_unique
from axonad.data.readers.records import RecordReader
from axonad.errors import ChannelError, FileError, InputError

SEPARATORS = ("\t", ";", "|", ",")  # of two that fit equally well, the first is taken
SAMPLE = 20  # records that show the separator and the decimal mark
COMMENTS = ("#", "%", "//")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*")
NO_VALUES = ("", "NA", "N/A", "null", "None")
NO_UNITS = ("-", "1", "–", "none", "n/a", "N/A", "NA", "null", "None")
EXCEL = re.compile(rb'"?sep=(.)"?', re.IGNORECASE)  # a first line that names the separator

csv.field_size_limit(2**26)


@dataclass(frozen=True)
class Dialect:
    """What the first lines of a CSV file say about the others."""

    names: tuple[str, ...]
    separator: str
    has_decimal_comma: bool
    name: str  # of the file, for messages
    header_line: int = 1
    units: tuple[str, ...] = ()  # one per name, if a line below the names has them

    @property
    def unnamed(self) -> tuple[int, ...]:
        """Positions of the columns without a name after the last one that has a name."""
        last = max(i for i, name in enumerate(self.names) if name)
        return tuple(range(last + 1, len(self.names)))


def parse_separator(separator: str | None) -> str | None:
    r"""Return the separator as one character; None means that it is to be found.

    >>> parse_separator("tab"), parse_separator(r"\t"), parse_separator(";")
    ('\t', '\t', ';')
    """
    if separator in ("tab", "TAB", r"\t"):
        return "\t"
    if separator is None or (
        len(separator) == 1 and separator.isascii() and separator not in '"\r\n'
    ):
        return separator
    raise InputError(
        f"separator must be one character that is not a quotation mark or a line end, or 'tab', "
        f"got {separator!r} (--separator)"
    )


def find_dialect(reader: RecordReader, *, name: str, separator: str | None = None) -> Dialect:
    """Return the dialect of a CSV file; the next record of the reader is its first data row."""
    first = reader.take(1)
    named = EXCEL.fullmatch(first.text.rstrip(b"\n"))
    if named is not None:
        separator = separator or named[1].decode("latin-1")
        first = reader.take(1)
    if not first.count:
        raise InputError(f"{name} is empty; expected a header line and rows")
    sample = [record.decode() for record in reader.peek(SAMPLE)]
    header = first.text.decode().rstrip("\n")
    separator = parse_separator(separator) or _find_separator(header, sample)
    names = [cell.strip() for cell in _cells(header, separator, name)]
    rows = [_cells(record, separator, name) for record in sample if record.strip()]
    _check_comment(header, names, rows, first.line, name)
    if rows and all(len(row) == len(names) + 1 and not row[-1].strip() for row in rows):
        names.append("")  # every row ends with a separator
    _check_names(names, separator, name)
    has_comma = separator != "," and any(DECIMAL_COMMA.fullmatch(c) for row in rows for c in row)
    units = _find_units(rows, len(names)) if sample and sample[0].strip() else ()
    if units:
        reader.take(1)
    return Dialect(tuple(names), separator, has_comma, name, first.line, units)


def _find_separator(header: str, sample: Sequence[str]) -> str:
    """Return the separator that cuts header and rows into equally many cells, the most of them."""

    def fit(separator: str) -> tuple[bool, int, int]:
        counts = [_count(record, separator) for record in sample if record.strip()]
        usual = Counter(counts).most_common(1)[0][0] if counts else 0
        own = _count(header, separator)
        return own > 0, sum(count == own for count in counts) if own else 0, own or usual

    return max(SEPARATORS, key=fit) if not _is_single(header, sample) else ","


def _is_single(header: str, sample: Sequence[str]) -> bool:
    return not any(_count(line, mark) for line in (header, *sample) for mark in SEPARATORS)


def _count(record: str, separator: str) -> int:
    """Return how often a separator stands outside of quotation marks."""
    return sum(part.count(separator) for part in record.split('"')[::2])


def _cells(record: str, separator: str, name: str) -> list[str]:
    try:
        return next(csv.reader([record], delimiter=separator), [""])
    except csv.Error as error:
        raise FileError(f"{name} cannot be read as CSV: {error}") from None


def _check_comment(
    header: str, names: Sequence[str], rows: Sequence[Sequence[str]], line: int, name: str
) -> None:
    """Raise an error if the first line is not one of column names."""
    is_comment = header.lstrip().startswith(COMMENTS)
    widths = {len(row) for row in rows}
    if is_comment and (not rows or len(names) not in widths):
        raise InputError(
            f"line {line} of {name} is a comment ({shown(header)}); remove the lines before the "
            "column names"
        )
    if len(names) == 1 and rows and min(widths) > 2:
        raise InputError(
            f"line {line} of {name} is no line of column names ({shown(header)}): the next lines "
            f"have {len(rows[0])} cells; remove the lines before the column names"
        )


def _find_units(rows: Sequence[Sequence[str]], count: int) -> tuple[str, ...]:
    """Return the units in the first row: it has no number, and words above numbers."""
    if len(rows) < 2 or any(_is_value(cell) for cell in rows[0]):
        return ()
    pairs = zip(rows[0], rows[1], strict=False)
    if not any(_is_unit(above) and _is_value(below) for above, below in pairs):
        return ()
    units = [cell.strip().removeprefix("[").removesuffix("]") for cell in rows[0][:count]]
    units = ["" if cell in NO_UNITS else cell for cell in units]
    return (*units, *[""] * (count - len(units)))


def _is_value(cell: str) -> bool:
    return _is_number(cell, ";") or cell.strip().lower() in ("true", "false")


def _is_unit(cell: str) -> bool:
    return cell.strip() not in NO_VALUES and not cell.lstrip().startswith(COMMENTS[:1])


def _check_names(names: list[str], separator: str, name: str) -> None:
    """Raise an error unless the first line names the columns, each once."""
    filled = [cell for cell in names if cell]
    if not filled:
        raise InputError(f"{name} has no column names in its header line; expected some")
    if all(_is_number(cell, separator) for cell in filled) and not _counts_up(filled):
        raise InputError(
            f"{name} has no header line: it starts with numbers; add a line of channel names"
        )
    last = max(i for i, cell in enumerate(names) if cell)
    try:
        check_unique(names[: last + 1])
    except ChannelError as error:
        raise ChannelError(f"{error} in {name}") from None


def _is_number(text: str, separator: str) -> bool:
    try:
        float(text.replace(",", ".") if separator != "," else text)
    except ValueError:
        return False
    return True


def _counts_up(header: list[str]) -> bool:
    """Return whether a header numbers the channels from 0 or from 1."""
    return any(header == [str(first + i) for i in range(len(header))] for first in (0, 1))


def shown(text: object, longest: int = 40) -> str:
    """Return a value of a file as it stands in a message: quoted, on one line and short."""
    text = str(text)
    return repr(text if len(text) <= longest else f"{text[:longest]}…")


def option(parameter: str, value: str) -> str:
    """Return how a parameter is given in Python and on the command line.

    >>> option("ignore", "gear"), option("time", "t 1")
    ("ignore=['gear'] (--ignore gear)", "time='t 1' (--time 't 1')")
    """
    given = repr([value]) if parameter == "ignore" else repr(value)
    return f"{parameter}={given} (--{parameter} {shlex.quote(value)})"
