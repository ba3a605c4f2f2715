"""Missing values: the last value of a channel replaces them for a limited number of rows.

A value is missing if it is NaN or infinite. The channel's last value replaces it in at most
``limit`` consecutive rows. After that, or if there is no earlier value, the row is refused and
everything held is forgotten, as it is where time breaks: nothing from before a gap is used after
it. Files, chunks and streams all follow this rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_int
from axonad.data.clock import Clock
from axonad.data.frames import Matrix, Names, channel_label, to_matrix
from axonad.data.raster import HOLD, SECOND
from axonad.data.series import Series
from axonad.data.timing import sampling_interval, to_seconds
from axonad.errors import StaleError

HOLD_LIMIT = 10
"""Default number of consecutive rows in which a value is held."""

Row = NDArray[np.float64]


class Holding:
    """The last value of each channel and for how many rows it has been used in place of others."""

    def __init__(self, channels: int, names: Names = None) -> None:
        self.names = names
        self.silent = np.zeros(channels, dtype=np.int64)  # consecutive rows without a value
        self.last: Row | None = None

    def fill(self, row: Row, *, limit: int, number: int) -> tuple[Row, list[int]]:
        """Return the row with missing values held, and the channels held.

        Raise :class:`~axonad.errors.StaleError` if a value can no longer be held; ``number`` is the
        row's number for the message.
        """
        finite = np.isfinite(row)
        held: list[int] = []
        if finite.all():
            self.silent.fill(0)
        else:
            missing = ~finite
            if reason := self._refusal(missing, limit, number):
                self.forget()
                raise StaleError(reason)
            row = row if self.last is None else np.where(finite, row, self.last)
            held = np.flatnonzero(missing).tolist()
            self.silent = np.where(missing, self.silent + 1, 0)
        self.last = row
        return row, held

    def forget(self) -> None:
        """Forget the last values, as after a gap."""
        self.silent.fill(0)
        self.last = None

    def _refusal(self, missing: NDArray[np.bool_], limit: int, number: int) -> str:
        """Return why missing values cannot be held; empty if they can."""
        if self.last is None:
            label = channel_label(int(np.argmax(missing)), self.names)
            return f"channel {label} has no value at row {number} and no earlier one to hold"
        late = missing & (self.silent >= limit)
        if late.any():
            label = channel_label(int(np.argmax(late)), self.names)
            return (
                f"channel {label} has been silent for more than hold_limit={limit} rows "
                f"at row {number}; the window was cleared"
            )
        return ""


@dataclass
class HeldCount:
    """How many values were held and how many rows refused."""

    values: int = 0
    rows: int = 0


class SeriesFiller:
    """Fills the missing values of a series part by part, with what was held carried over.

    ``interval`` is the sampling interval in seconds by which gaps in time are judged.
    """

    def __init__(self, limit: int = HOLD_LIMIT, *, interval: float | None = None) -> None:
        check_int("max_hold", limit, low=0)
        self.count = HeldCount()
        self.limit, self._interval = limit, interval
        self._clock = Clock()
        self._holding: Holding | None = None
        self._row = 0

    def fill(self, series: Series) -> Series:
        """Return the next part with missing values held; rows refused are marked unusable."""
        return self._longer_held(self._fill(series))

    def _longer_held(self, series: Series) -> Series:
        """Return the series, which now says that its values are held for ``limit`` rows more."""
        interval = self._interval
        if interval is None and series.times is not None:
            seconds = to_seconds(series.times)
            interval = None if seconds is None else sampling_interval(seconds)
        if interval is None:
            return series
        more = round(self.limit * interval * SECOND)
        known = series.hold or (0,) * len(series.channels)
        return replace(series, hold=tuple(age + more for age in known))

    def _fill(self, series: Series) -> Series:
        first, self._row = self._row, self._row + len(series)
        if self._holding is None:
            self._holding = Holding(len(series.channels), series.channels)
        holding = self._holding
        breaks = self._breaks(series)
        missing = ~np.isfinite(series.values)
        if not missing.any():
            if len(series):
                holding.silent.fill(0)
                holding.last = series.values[-1].astype(np.float64)
            return series
        values = series.values.astype(np.float64)
        unusable = np.zeros(len(series), dtype=bool)
        complete = np.asarray(~missing.any(axis=1))
        for i in range(len(values)):
            if complete[i]:
                if i + 1 == len(values) or not complete[i + 1]:
                    holding.silent.fill(0)
                    holding.last = values[i]
                continue
            if i in breaks:
                holding.forget()
            try:
                values[i], held = holding.fill(values[i], limit=self.limit, number=first + i)
                self.count.values += len(held)
            except StaleError:
                unusable[i] = True
                self.count.rows += 1
        known = series.unusable
        both = unusable if known is None else unusable | known
        return replace(series, values=values, unusable=both if both.any() else None)

    def _breaks(self, series: Series) -> set[int]:
        """Return the rows of the next part at which time breaks."""
        seconds = None if series.times is None else to_seconds(series.times)
        if seconds is None:
            return set()
        breaks = self._clock.find_breaks(seconds, self._interval)
        self._clock.advance_many(seconds, self._interval)
        return set(breaks)


def hold_missing(
    series: Series, *, max_hold: int = HOLD_LIMIT, interval: float | None = None
) -> Series:
    """Return the series with each missing value replaced by its channel's last one.

    Nothing is held across a gap in time, judged by the sampling ``interval``; give that of the
    detector, ``detector.interval_``.

    Rows in which a channel has been missing for more than ``max_hold`` rows, or has not had a value
    yet, are marked unusable: no window includes them, and they get no score.
    """
    return SeriesFiller(max_hold, interval=interval).fill(series)


def recorded_values(X: Any) -> tuple[Matrix, Names]:
    """Return the values of ``X`` as they were recorded, NaN where one is missing, and its channels.

    For those who judge the data. A detector that scores ``X`` sees its usable rows only.
    """
    return to_matrix(replace(X, unusable=None) if isinstance(X, Series) else X)


def describe_hold(hold: Mapping[str, int]) -> str:
    """Return for how long values are held as people say it.

    >>> describe_hold({"a": 2_000_000}), describe_hold({"a": 500_000, "b": 20_000_000})
    ('for 2 s', 'for 0.5 to 20 s, by channel')
    """
    low, high = min(hold.values()) / SECOND, max(hold.values()) / SECOND
    return f"for {low:g} s" if low == high else f"for {low:g} to {high:g} s, by channel"


def learn_hold(
    recordings: Sequence[Any], names: Names, interval: float | None
) -> dict[str, int] | None:
    """Return the microseconds for which a model holds a value of each channel on its raster.

    That is the longest time for which a recording did, and ``HOLD`` rows where none says so. None
    for channels without names and for rows whose ``interval``, in seconds, is not known.

    >>> drive = Series(values=np.zeros((2, 2)), channels=("a", "b"), hold=(5_000_000, 0))
    >>> learn_hold([drive], ("a", "b"), 0.1)
    {'a': 5000000, 'b': 1000000}
    """
    if names is None or interval is None:
        return None
    found = dict.fromkeys(names, 0)
    for one in recordings:
        if isinstance(one, Series) and one.hold is not None:
            for name, age in zip(one.channels, one.hold, strict=True):
                if name in found:
                    found[name] = max(found[name], age)
    usual = round(HOLD * interval * SECOND)
    return {name: age or usual for name, age in found.items()}
