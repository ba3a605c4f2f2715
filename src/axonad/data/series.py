"""A multivariate time series: values, channel names, and optional labels and times."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import (
    Matrix,
    check_unique,
    frame_units,
    is_frame,
    split_time,
    to_matrix,
)
from axonad.data.time_columns import taken_as_time
from axonad.errors import DataWarning, InputError


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

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        time: str | bool = True,
        known: Collection[str] | None = None,
        name: str = "series",
    ) -> Self:
        """Return a pandas or polars frame as a series.

        Parameters
        ----------
        frame
            One column per channel, and maybe its time: an index or a column.
        time
            The column of times; True finds it by the rule of :mod:`axonad.data.time_columns`,
            False says that every column is a channel.
        known
            Channels of the model that scores the frame: none of them is time.
        name
            What messages call it.
        """
        if not is_frame(frame):
            raise InputError(f"frame must be a pandas or polars frame, got {type(frame).__name__}")
        return cls._joined(*split_time(frame, time=time, known=known), known, name)

    @classmethod
    def _joined(
        cls, rest: Any, times: NDArray[Any] | None, guessed: str | None,
        known: Collection[str] | None, name: str,
    ) -> Self:  # fmt: skip
        """Return the series of a frame's channels and times."""
        values, channels = to_matrix(rest)
        if guessed is not None and known is None:
            otherwise = "axonad.Series.from_frame(frame, time=False) keeps it a channel"
            warnings.warn(taken_as_time(guessed, otherwise), DataWarning, stacklevel=4)
        units, names = frame_units(rest), channels or ()
        listed = tuple(units.get(channel, "") for channel in names) if units else None
        return cls(values=values, channels=names, times=times, name=name, units=listed)

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


def with_times(X: Any, known: Collection[str] | None = None) -> Any:
    """Return a frame that has times as a series; anything else as it is.

    ``known`` are the channels of the model that scores it, None for training data.
    """
    if not is_frame(X):
        return X
    split = split_time(X, known=known)
    return X if split[1] is None else Series._joined(*split, known, "series")
