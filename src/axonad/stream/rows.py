"""Converts pushed rows to arrays in channel order, with NaN for missing values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Names, match_channels, to_matrix
from axonad.errors import ChannelError, InputError, suggest

Row = NDArray[np.float64]


class RowReader:
    """Reads rows given by position or by channel name."""

    def __init__(self, names: Names, channels: int) -> None:
        self._names, self._channels = names, channels

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
        if isinstance(rows, list | tuple):
            return np.array([self.read(row) for row in rows]).reshape(len(rows), self._channels)
        if hasattr(rows, "__len__") and len(rows) == 0:
            return np.empty((0, self._channels))
        matrix, names = to_matrix(rows)
        matched = match_channels(matrix, names, expected=self._names, count=self._channels)
        return matched.astype(np.float64)

    def _parse(self, row: Any) -> Row:
        if hasattr(row, "to_dict"):  # a row of a pandas frame carries its channel names
            row = row.to_dict() if self._names is not None else row.to_numpy()
        if isinstance(row, Mapping):
            values: Iterable[Any] = self._by_name(row)
        else:
            values = row.tolist() if isinstance(row, np.ndarray) else row
        try:
            return np.array([_number(value) for value in values], dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"a row must hold numbers, got {row!r:.200}") from None

    def _by_name(self, row: Mapping[str, Any]) -> list[Any]:
        if self._names is None:
            raise ChannelError("the detector was fitted without channel names; push plain values")
        for name in row:
            if name not in self._names:
                hint = suggest(str(name), self._names)
                raise ChannelError(f"channel {name!r} not in model{hint}")
        return [row.get(name) for name in self._names]


def _number(value: Any) -> Any:
    """Return a value of a row, NaN if it is missing; raise TypeError for text."""
    if value is None or type(value).__name__ == "NAType":
        return np.nan
    if isinstance(value, str | bytes):
        raise TypeError(value)
    return value
