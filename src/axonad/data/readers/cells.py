"""Text cells of a CSV file as numbers, where they are not all plain numbers.

Cells may have spaces around them, be ``true`` or ``false``, or have a decimal comma. A file that
uses the comma in one number and the point in another is refused: ``1.500`` may mean 1500 in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from axonad.data.readers.columns import MISSING, Columns, not_numeric, wrong_label
from axonad.data.readers.dialect import COMMENTS, DECIMAL_COMMA, shown
from axonad.errors import InputError

COMMA = f"^{DECIMAL_COMMA.pattern}$"
POINT = r"^[+-]?(?:\d*\.\d*)+(?:,\d*)?(?:[eE][+-]?\d+)?$"


@dataclass
class DecimalMark:
    """The decimal mark of a file, from the rows seen so far."""

    may_be_comma: bool
    is_comma: bool = False
    is_point: bool = False


@dataclass(frozen=True)
class Place:
    """Where a part of a file is, for messages."""

    row: int  # rows of the file before it
    line: Callable[[int], int]  # row of the part → line of the file


def to_numbers(
    frame: pl.DataFrame, columns: Columns, mark: DecimalMark, place: Place
) -> pl.DataFrame:
    """Return a table of text with its channels and labels as numbers."""
    names = [*columns.channels, *filter(None, [columns.label])]
    text = frame.select(_strip(pl.col(names)))
    _check_mark(text, columns.name, mark, place)
    numbers = text.select(_cast(pl.col(names), has_comma=mark.is_comma))
    missing = zip(names, text.null_count().row(0), numbers.null_count().row(0), strict=True)
    for name, before, after in missing:
        if before == after:
            continue
        row = int((text[name].is_not_null() & numbers[name].is_null()).arg_true()[0])
        _check_line(frame, columns, row, place)
        cell = frame[name][row]
        if name == columns.label:
            raise wrong_label(name, columns.name, cell, place.row + row)
        where = f" (line {place.line(row)})"
        raise not_numeric(name, columns.name, cell, place.row + row, where)
    return frame.with_columns(numbers.get_columns())


def find_time_kind(text: pl.Series, *, may_have_comma: bool) -> str | None:
    """Return what the cells of a time column are: int, float or text; None if all are missing."""
    known = _stripped(text).drop_nulls()
    if not len(known):
        return None
    if known.cast(pl.Int64, strict=False).null_count() == 0:
        return "int"
    for has_comma in (False, may_have_comma):
        if _casted(known, has_comma=has_comma).null_count() == 0:
            return "float"
    return "text"


def convert_times(text: pl.Series, kind: str | None, *, may_have_comma: bool) -> pl.Series:
    """Return the cells of a time column as what they are; see :func:`find_time_kind`."""
    if kind == "text" or kind is None:
        return text
    stripped = _stripped(text)
    if kind == "int":
        return stripped.cast(pl.Int64)
    numbers = _casted(stripped, has_comma=False)
    if may_have_comma and numbers.null_count() > stripped.null_count():
        numbers = _casted(stripped, has_comma=True)
    return numbers


def common_kind(kinds: set[str | None]) -> str | None:
    """Return the kind that holds the times of all chunks of a file."""
    return next((kind for kind in ("text", "float", "int") if kind in kinds), None)


def _strip(text: pl.Expr) -> pl.Expr:
    """Return text without spaces around it, and null where it stands for a missing value."""
    text = text.str.strip_chars()
    return pl.when(~text.is_in(list(MISSING))).then(text).name.keep()


def _stripped(text: pl.Series) -> pl.Series:
    return text.to_frame().select(_strip(pl.col(text.name)))[text.name]


def _cast(text: pl.Expr, *, has_comma: bool) -> pl.Expr:
    """Return text as numbers, and null where it is none."""
    plain = text.str.replace(",", ".", literal=True) if has_comma else text
    word = text.str.to_lowercase()
    return (
        pl.when(word == "true")
        .then(1.0)
        .when(word == "false")
        .then(0.0)
        .otherwise(plain.cast(pl.Float64, strict=False))
        .name.keep()
    )


def _casted(text: pl.Series, *, has_comma: bool) -> pl.Series:
    return text.to_frame().select(_cast(pl.col(text.name), has_comma=has_comma))[text.name]


def _check_mark(text: pl.DataFrame, name: str, mark: DecimalMark, place: Place) -> None:
    """Note the decimal mark of the cells; raise an error if both marks are in use."""
    if not mark.may_be_comma:
        return
    found = [text.select(pl.all().str.contains(pattern)) for pattern in (COMMA, POINT)]
    has = [any(marked.select(pl.all().any()).row(0)) for marked in found]
    mark.is_comma, mark.is_point = mark.is_comma or has[0], mark.is_point or has[1]
    if not (mark.is_comma and mark.is_point):
        return
    marked = found[0] if has[0] else found[1]
    for column in marked.iter_columns():
        rows = column.arg_true()
        if len(rows):
            row = int(rows[0])
            raise InputError(
                f"{name} has numbers with a decimal comma and others with a point, such as "
                f"{shown(text[column.name][row])} in column {column.name!r}, row "
                f"{place.row + row} (line {place.line(row)}); expected one of them and no "
                "thousands separators"
            )


def _check_line(frame: pl.DataFrame, columns: Columns, row: int, place: Place) -> None:
    """Raise an error if a row is not data but a comment."""
    cells = [str(cell) for cell in frame.row(row) if cell is not None]
    if cells and cells[0].lstrip().startswith(COMMENTS):
        raise InputError(
            f"line {place.line(row)} of {columns.name} is a comment ({shown(cells[0])}); remove it"
        )
