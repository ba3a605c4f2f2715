"""Converts pushed rows to arrays in channel order, with NaN for missing values.

A row is a sequence of numbers in channel order, or a mapping from channel names. Booleans count as
0 and 1. Bytes, text, sets, views of a dictionary, dates and complex numbers are never meant as a
row and are refused. So are names that the model does not know, unless ``ignore_extra`` is set.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sized, ValuesView
from collections.abc import Set as AnySet
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_bool
from axonad.data.frames import Names, check_extra, match_channels
from axonad.data.holding import recorded_values
from axonad.data.series import Series
from axonad.errors import ChannelError, InputError

Row = NDArray[np.float64]

NOTHING = object()
SHOWN = 80  # characters of a value in an error message
NOT_ROWS = (str, bytes, bytearray, memoryview, AnySet, KeysView, ValuesView, ItemsView)
NOT_NUMBERS = (
    str, bytes, bytearray, memoryview, complex, np.complexfloating, np.datetime64, np.timedelta64,
    np.void,
)  # fmt: skip


class RowReader:
    """Reads rows given by position or by channel name.

    Parameters
    ----------
    names, channels
        Names of the model's channels, None if it has no names, and their number.
    ignore_extra
        Whether names that the model does not know are dropped instead of refused.
    """

    def __init__(self, names: Names, channels: int, *, ignore_extra: bool = False) -> None:
        check_bool("ignore_extra", ignore_extra)
        self.ignore_extra = ignore_extra
        self._names, self._channels = names, channels
        self._known = frozenset(names or ())

    def take(self, rows: Any) -> tuple[Row, bool]:
        """Return one row or many as a new matrix (rows, channels), and whether it was one."""
        if isinstance(rows, Iterator):
            first = next(rows, NOTHING)
            is_one = first is not NOTHING and not _is_row(first)
            rows = [] if first is NOTHING else chain([first], rows)
        else:
            is_one = _is_one(rows)
        return (self.read(rows)[None], True) if is_one else (self.read_many(rows), False)

    def read(self, row: Any) -> Row:
        """Return one row as a new array."""
        if type(row) is np.ndarray and row.dtype == np.float64 and row.ndim == 1:
            array = row.copy()
        else:
            array = self._parse(row)
        if array.shape != (self._channels,):
            shape = array.shape[0] if array.ndim == 1 else array.shape
            raise ChannelError(f"a row must have {self._channels} values, got {shape}")
        return array

    def read_many(self, rows: Any) -> Row:
        """Return many rows as a matrix (rows, channels)."""
        if isinstance(rows, np.ndarray) and rows.dtype == object and rows.ndim == 2:
            rows = list(rows)
        if not hasattr(rows, "__array__") and not isinstance(rows, Series):
            rows = _listed(rows)
            return np.array([self.read(row) for row in rows]).reshape(len(rows), self._channels)
        if np.ndim(rows) and len(rows) == 0:
            return np.empty((0, self._channels))
        matrix, names = recorded_values(rows)
        if self.ignore_extra and names is not None and self._names is not None:
            known = [i for i, name in enumerate(names) if name in self._known]
            matrix, names = matrix[:, known], tuple(names[i] for i in known)
        matched = match_channels(matrix, names, expected=self._names, count=self._channels)
        return matched.astype(np.float64)

    def _parse(self, row: Any) -> Row:
        if hasattr(row, "to_dict"):  # a row of a pandas frame carries its channel names
            row = row.to_dict() if self._names is not None else row.to_numpy()
        if isinstance(row, Mapping):
            return _numbers(self._by_name(row), row)
        if isinstance(row, np.ndarray):
            if row.dtype.kind not in "biufO":
                raise InputError(f"a row must hold numbers, got an array of type {row.dtype}")
            if row.ndim != 1:
                return np.empty(row.shape)  # refused for its shape
            return _numbers(row.tolist(), row)
        if isinstance(row, NOT_ROWS) or not isinstance(row, Iterable):
            raise InputError(f"a row must hold numbers, got {type(row).__name__} {shown(row)}")
        values = row if isinstance(row, Sized) else islice(row, self._channels + 1)
        return _numbers(values, row)

    def _by_name(self, row: Mapping[str, Any]) -> list[Any]:
        if self._names is None:
            raise ChannelError("the detector was fitted without channel names; push plain values")
        extra = [name for name in row if name not in self._known]
        if extra and not self.ignore_extra:
            check_extra([_short(name) for name in extra], self._names)
        return [row.get(name) for name in self._names]


def _is_one(rows: Any) -> bool:
    """Return whether it is a single row: a mapping, or values that are no rows themselves."""
    if isinstance(rows, Series):
        return False
    if hasattr(rows, "shape"):  # an array, a frame, a column
        return len(rows.shape) < 2
    if isinstance(rows, (Mapping, *NOT_ROWS)) or not isinstance(rows, Iterable):
        return True
    first = next(iter(rows), NOTHING)
    return first is not NOTHING and not _is_row(first)


def _is_row(value: Any) -> bool:
    is_number = isinstance(value, NOT_NUMBERS) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not is_number


def shown(value: Any) -> str:
    """Return the beginning of a value's ``repr`` for a message."""
    try:
        return f"{value!r:.{SHOWN}}"
    except (ValueError, RecursionError):  # an integer of thousands of digits, a deep list
        return f"a {type(value).__name__}"


def _short(name: Any) -> Any:
    """Return a name that fits into a message."""
    return f"{name[:SHOWN]}..." if isinstance(name, str) and len(name) > SHOWN else name


def _listed(rows: Any) -> list[Any]:
    """Return an iterable of rows as a list."""
    if isinstance(rows, (*NOT_ROWS, Mapping)) or not isinstance(rows, Iterable):
        kind = type(rows).__name__
        raise InputError(f"push needs a row, a list of rows, an array or a frame, got {kind}")
    return list(rows)


def _numbers(values: Iterable[Any], row: Any) -> Row:
    """Return the values of a row as an array; raise InputError if one is not a number."""
    numbers = []
    for value in values:
        try:
            numbers.append(_number(value))
        except (TypeError, ValueError, OverflowError):
            kind = type(value).__name__
            raise InputError(
                f"a row must hold numbers, got {kind} {shown(value)} in {shown(row)}"
            ) from None
    return np.array(numbers, dtype=np.float64)


def _number(value: Any) -> float:
    """Return a value of a row, NaN if it is missing; raise an error if it is not a number."""
    if type(value) is float:
        return value
    if value is None or type(value).__name__ == "NAType":
        return np.nan
    if isinstance(value, NOT_NUMBERS) or getattr(value, "ndim", 0) != 0:
        raise TypeError(value)
    return float(value)
