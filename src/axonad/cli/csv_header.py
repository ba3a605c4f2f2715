"""The first line of a CSV stream: its separator, and which column is which channel."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from axonad.data.frames import Names, check_unique
from axonad.data.readers.columns import LABEL_COLUMNS, MISSING
from axonad.data.time_columns import find_time_column, is_time_name
from axonad.errors import ChannelError, suggest

LONGEST = 10_000  # characters of a cell
SEPARATORS = (",", ";", "\t", "|")
LISTED = 20  # names listed in an error message


@dataclass(frozen=True)
class Header:
    """The columns of a CSV stream.

    ``columns`` are the positions of the channels, ``channels`` their names, None if they are given
    in the model's order because it has no names.
    """

    width: int
    columns: tuple[int, ...]
    channels: tuple[str, ...] | None
    time: int | None


def split_cells(text: str, separator: str) -> list[str]:
    """Return the cells of a CSV line; raise ``csv.Error`` if it cannot be split.

    The longest cell is limited here, because other code may change the limit of the csv module.
    """
    cells = next(csv.reader([text], delimiter=separator), [])
    if any(len(cell) > LONGEST for cell in cells):
        raise csv.Error(f"a cell is longer than {LONGEST} characters")
    return cells


def split_line(text: str, names: Names) -> tuple[str, list[str]]:
    """Return the separator of a first line and its cells.

    It is the one that gives most of the model's names, or else the most cells. Raise ``csv.Error``
    if the line cannot be split at all.
    """
    split: dict[str, list[str]] = {}
    for separator in SEPARATORS:
        with suppress(csv.Error):  # such as a field that is too long
            split[separator] = split_cells(text, separator)
    if not split:
        raise csv.Error("the line cannot be split")
    known = set(names or ())

    def fit(separator: str) -> tuple[int, int]:
        cells = split[separator]
        return len(known.intersection(cell.strip() for cell in cells)), len(cells)

    best = max(split, key=fit)
    return best, split[best]


def is_header(cells: Sequence[str], names: Names) -> bool:
    """Return whether a first line names columns: it has no numbers, or names of the model."""
    texts = [cell.strip() for cell in cells]
    words = [text for text in texts if parse_number(text) is None and text not in MISSING]
    if len(words) == len([text for text in texts if text not in MISSING]):
        return bool(words)
    if names is None:
        return False
    others = {
        text for text in texts if not is_time_name(text) and text.lower() not in LABEL_COLUMNS
    }
    return others == set(names) or bool(set(words) & set(names))


def read_header(
    cells: Sequence[str], names: Names, *, channels: int, time: str | None, ignore_extra: bool
) -> Header:
    """Return the columns that a header names; raise ChannelError with all that is wrong with it."""
    columns = [cell.strip() for cell in cells]
    if time is not None and time not in columns:
        hint = suggest(time, columns) or f"; columns: {_listed(columns)}"
        raise ChannelError(f"the input has no column {time!r}{hint}")
    check_unique(columns)
    others = [column for column in columns if column not in (names or ())]
    found = find_time_column(others, known=()) if time is None else time
    dropped = {found, *(column for column in others if column.lower() in LABEL_COLUMNS)}
    kept = [column for column in columns if column not in dropped]
    place = None if found is None else columns.index(found)
    if names is None:
        if len(kept) != channels:
            raise ChannelError(
                f"the input has {len(kept)} channels ({_listed(kept)}); the model has {channels}"
            )
        return Header(len(columns), tuple(map(columns.index, kept)), None, place)
    extra = [column for column in kept if column not in names]
    missing = [name for name in names if name not in kept]
    problems = []
    if missing:
        problems.append(f"lacks {_listed(missing)}")
    if extra and (missing or not ignore_extra):
        problems.append(f"has {_listed(extra)}, which the model does not know")
    if problems:
        raise ChannelError(f"the header {' and '.join(problems)}; {_advice(missing, extra, names)}")
    known = [column for column in kept if column in names]
    return Header(len(columns), tuple(map(columns.index, known)), tuple(known), place)


def parse_number(text: str) -> float | None:
    """Return the number in a text, None if it is not one."""
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def _advice(missing: Sequence[str], extra: Sequence[str], names: Sequence[str]) -> str:
    if len(missing) == len(names):
        return (
            "the first line must be a JSON object, the names of the channels, or numbers in their "
            f"order (--format json or csv says which); channels: {_listed(names)}"
        )
    if missing:
        return "name all channels of the model"
    it = "them" if len(extra) > 1 else "it"
    return f"drop {it} with --ignore-extra, or fit again with {it}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(f"{name[:80]!r}" for name in names[:LISTED]) + more
