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
    stripped = {name: _stripped(frame[name]) for name in names}
    _check_mark(stripped, columns.name, mark, place)
    numbers = {}
    for name, text in stripped.items():
        numbers[name] = _cast(text, has_comma=mark.is_comma)
        bad = (text.is_not_null() & numbers[name].is_null()).arg_true()
        if not len(bad):
            continue
        row = int(bad[0])
        _check_line(frame, stripped, columns, row, place)
        cell = frame[name][row]
        if name == columns.label:
            raise wrong_label(name, columns.name, cell, place.row + row + 1)
        where = f" (line {place.line(row)})"
        raise not_numeric(name, columns.name, cell, place.row + row + 1, where)
    return frame.with_columns(**{name: column.alias(name) for name, column in numbers.items()})


def find_time_kind(text: pl.Series, *, may_have_comma: bool) -> str | None:
    """Return what the cells of a time column are: int, float or text; None if all are missing."""
    known = _stripped(text).drop_nulls()
    if not len(known):
        return None
    if known.cast(pl.Int64, strict=False).null_count() == 0:
        return "int"
    for has_comma in (False, may_have_comma):
        if _cast(known, has_comma=has_comma).null_count() == 0:
            return "float"
    return "text"


def convert_times(text: pl.Series, kind: str | None, *, may_have_comma: bool) -> pl.Series:
    """Return the cells of a time column as what they are; see :func:`find_time_kind`."""
    if kind == "text" or kind is None:
        return text
    stripped = _stripped(text)
    if kind == "int":
        return stripped.cast(pl.Int64)
    numbers = _cast(stripped, has_comma=False)
    if may_have_comma and numbers.null_count() > stripped.null_count():
        numbers = _cast(stripped, has_comma=True)
    return numbers


def common_kind(kinds: set[str | None]) -> str | None:
    """Return the kind that holds the times of all chunks of a file."""
    return next((kind for kind in ("text", "float", "int") if kind in kinds), None)


def _stripped(text: pl.Series) -> pl.Series:
    text = text.str.strip_chars()
    return text.set(text.is_in(list(MISSING)), None)


def _cast(text: pl.Series, *, has_comma: bool) -> pl.Series:
    plain = text.str.replace(",", ".", literal=True) if has_comma else text
    numbers = plain.cast(pl.Float64, strict=False)
    if numbers.null_count() == text.null_count():
        return numbers
    words = text.str.to_lowercase().replace_strict(
        ["true", "false"], [1.0, 0.0], default=None, return_dtype=pl.Float64
    )
    return pl.select(pl.coalesce(numbers, words)).to_series()


def _check_mark(columns: dict[str, pl.Series], name: str, mark: DecimalMark, place: Place) -> None:
    """Note the decimal mark of the cells; raise an error if both marks are in use."""
    if not mark.may_be_comma:
        return
    commas = {key: text.str.contains(f"^{DECIMAL_COMMA.pattern}$") for key, text in columns.items()}
    points = {
        key: text.str.contains(r"^[+-]?[\d.]+(?:,\d*)?$") & text.str.contains(".", literal=True)
        for key, text in columns.items()
    }
    mark.is_comma = mark.is_comma or any(bool(found.any()) for found in commas.values())
    mark.is_point = mark.is_point or any(bool(found.any()) for found in points.values())
    if not (mark.is_comma and mark.is_point):
        return
    for found in (commas, points):
        for key, is_found in found.items():
            rows = is_found.arg_true()
            if len(rows):
                row = int(rows[0])
                raise InputError(
                    f"{name} has numbers with a decimal comma and others with a point, such as "
                    f"{shown(columns[key][row])} in column {key!r}, data row {place.row + row + 1} "
                    f"(line {place.line(row)}); expected one of them and no thousands separators"
                )


def _check_line(
    frame: pl.DataFrame, stripped: dict[str, pl.Series], columns: Columns, row: int, place: Place
) -> None:
    """Raise an error if a row is not data: a comment, or the units below the column names."""
    cells = [str(cell) for cell in frame.row(row) if cell is not None]
    if cells and cells[0].lstrip().startswith(COMMENTS):
        raise InputError(
            f"line {place.line(row)} of {columns.name} is a comment ({shown(cells[0])}); remove it"
        )
    if place.row or row or frame.height < 2:
        return
    units = [stripped[name][0] for name in columns.channels]
    next_ = [stripped[name][1] for name in columns.channels]
    has_no_number = all(unit is None or _number(unit) is None for unit in units)
    if has_no_number and any(cell is not None and _number(cell) is not None for cell in next_):
        listed = ", ".join(shown(unit) for unit in units[:3] if unit is not None)
        raise InputError(
            f"line {place.line(0)} of {columns.name} holds no numbers ({listed}), as if it named "
            "the units; remove it"
        )


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
