"""A multivariate time series: values, channel names, and optional labels and times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
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
        0/1 per step, or None. Used by metrics only, never by a detector.
    times
        Time per step, or None: numbers, datetimes or text, copied to the output as they are.
    name
        Where the series came from.
    units
        One unit per channel, empty where it is not known; None if none is.
    unusable
        Rows without usable values, or None: no window includes them, and they get no score.
    hold
        Microseconds for which values of each channel were held when the rows were made, 0 where
        this is not known; None if nothing is.
    """

    values: Matrix
    channels: tuple[str, ...]
    labels: NDArray[np.int8] | None = None
    times: NDArray[Any] | None = None
    name: str = "series"
    unusable: NDArray[np.bool_] | None = None
    units: tuple[str, ...] | None = None
    hold: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values))
        if self.values.ndim != 2 or self.values.shape[1] != len(self.channels):
            raise InputError(
                f"values must have shape (time, {len(self.channels)}), one column per channel "
                f"name, got {self.values.shape}"
            )
        check_unique(self.channels)
        for what, entries in {"units": self.units, "hold": self.hold}.items():
            if entries is not None and len(entries) != len(self.channels):
                raise InputError(
                    f"{what} must have {len(self.channels)} entries, got {len(entries)}"
                )
        columns = {"labels": self.labels, "times": self.times, "unusable": self.unusable}
        for what, column in columns.items():
            if column is not None and len(column) != len(self.values):
                raise InputError(f"{what} must have {len(self.values)} entries, got {len(column)}")

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int | None = None) -> Series:
        """Return the rows from ``start`` up to ``stop`` as a view."""
        return self.select(slice(start, stop))

    def select(self, rows: slice | NDArray[np.bool_]) -> Series:
        """Return the rows of a slice or mask."""
        return replace(
            self,
            values=self.values[rows],
            labels=None if self.labels is None else self.labels[rows],
            times=None if self.times is None else self.times[rows],
            unusable=None if self.unusable is None else self.unusable[rows],
        )

    def keep(self, names: Iterable[str]) -> Series:
        """Return the series with those of its channels that are among ``names``."""
        wanted = set(names)
        kept = [i for i, name in enumerate(self.channels) if name in wanted]
        channels = tuple(self.channels[i] for i in kept)
        units = None if self.units is None else tuple(self.units[i] for i in kept)
        hold = None if self.hold is None else tuple(self.hold[i] for i in kept)
        return replace(self, values=self.values[:, kept], channels=channels, units=units, hold=hold)
