"""A series: values (time, channels) with names, and labels and times where they are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, check_unique
from axonad.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Series:
    """One recorded multivariate series.

    Parameters
    ----------
    values
        Float array (time, channels).
    channels
        One name per column of ``values``.
    labels
        0/1 per step where known. Only metrics read them, never a detector.
    times
        Time per step where known: numbers, datetimes or text, passed through to the output.
    name
        Where the series came from.
    """

    values: Matrix
    channels: tuple[str, ...]
    labels: NDArray[np.int8] | None = None
    times: NDArray[Any] | None = None
    name: str = "series"

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values))
        if self.values.ndim != 2 or self.values.shape[1] != len(self.channels):
            raise InputError(
                f"values must have shape (time, {len(self.channels)}) to fit the channel names, "
                f"got {self.values.shape}"
            )
        check_unique(self.channels)
        for what, column in (("labels", self.labels), ("times", self.times)):
            if column is not None and len(column) != len(self.values):
                raise InputError(f"{what} must have {len(self.values)} entries, got {len(column)}")

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int | None = None) -> Series:
        """Return the part of the series from row ``start`` up to ``stop``, sharing memory."""
        part = slice(start, stop)
        return Series(
            values=self.values[part],
            channels=self.channels,
            labels=None if self.labels is None else self.labels[part],
            times=None if self.times is None else self.times[part],
            name=self.name,
        )
