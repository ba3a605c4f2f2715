"""Samples of channels with different rates onto one raster, for files and for live data alike.

The value of a channel at a raster time is that of its last sample at or before that time, if this
is not older than the channel's maximum age; else it is missing. Nothing is interpolated, and no
sample after a raster time has an effect on its row. Of successive rows in which no channel has a
value only the first is kept: it is enough to part what is before it from what comes after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.raster import Micros
from axonad.errors import InputError

Values = NDArray[np.float64]
BEGIN = -(2**62)  # before all times


@dataclass(frozen=True)
class Rows:
    """Successive rows of a raster: their times in microseconds, and values (rows, channels)."""

    times: Micros
    values: Values


@dataclass
class Count:
    """How many rows of a channel have a sample since the row before, a held one, and none."""

    fresh: int = 0
    held: int = 0
    missing: int = 0


class Resampler:
    """Brings samples onto a raster, part by part.

    Before ``advance(t)`` all samples up to time ``t`` should be pushed; then the rows are the same
    however samples and calls are split. A sample that comes later counts for the rows to come.

    Parameters
    ----------
    max_age
        Channel name → the microseconds for which its value is held; in the order of the columns.
    interval
        Microseconds between rows.
    """

    def __init__(self, max_age: Mapping[str, int], *, interval: int) -> None:
        if interval < 1:
            raise InputError(f"interval must be at least 1 µs, got {interval}")
        self.channels = tuple(max_age)
        self.interval = interval
        self.counts = {name: Count() for name in max_age}
        self._ages = dict(max_age)
        self._times = {name: np.empty(0, np.int64) for name in max_age}
        self._values = {name: np.empty(0) for name in max_age}
        self._next = BEGIN  # number of the next row
        self._is_open = False  # whether the row before it was returned with a value

    def push(self, channel: str, times: NDArray[Any], values: NDArray[Any]) -> None:
        """Add samples of a channel, with times in microseconds; values not finite are left out."""
        if channel not in self._ages:
            raise InputError(f"the raster has no channel {channel!r}")
        new_times, new = np.asarray(times, np.int64), np.asarray(values, np.float64)
        if not np.isfinite(np.add.reduce(new)):  # finite values may also overflow
            finite = np.isfinite(new)
            new_times, new = new_times[finite], new[finite]
        known = self._times[channel]
        if len(known):
            new_times = np.concatenate([known, new_times])
            new = np.concatenate([self._values[channel], new])
        if (np.diff(new_times) < 0).any():
            order = np.argsort(new_times, kind="stable")
            new_times, new = new_times[order], new[order]
        self._times[channel], self._values[channel] = new_times, new

    def last_time(self) -> int:
        """Return the time of the last sample; that of the last row without samples."""
        ends = [int(times[-1]) for times in self._times.values() if len(times)]
        return max(ends, default=(self._next - 1) * self.interval)

    def count_rows(self, until: int) -> int:
        """Return how many rows :meth:`advance` would return."""
        starts, ends = self._all_runs(until)
        return int((ends - starts + 1).sum())

    def row_times(self, until: int) -> Micros:
        """Return the times of the rows that :meth:`advance` would return."""
        return _expand(*self._all_runs(until)) * self.interval

    def advance(self, until: int) -> Rows:
        """Return the rows up to a time in microseconds that were not returned before."""
        times = self.row_times(until)
        values = np.empty((len(times), len(self.channels)))
        found: dict[int, tuple[NDArray[np.intp], Micros]] = {}  # of channels that share times
        for column, name in enumerate(self.channels):
            own = self._times[name]
            if id(own) not in found and len(own):
                places = np.searchsorted(own, times, side="right") - 1
                found[id(own)] = places, times - own[places]
            values[:, column] = self._column(name, len(times), *found.get(id(own), (None, None)))
        self._forget(until)
        if until // self.interval >= self._next:
            self._next = until // self.interval + 1
            ends = len(times) > 0 and int(times[-1]) // self.interval == self._next - 1
            self._is_open = bool(ends and np.isfinite(values[-1]).any())
        return Rows(times, values)

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        samples = {
            name: [self._times[name].tolist(), self._values[name].tolist()]
            for name in self.channels
        }
        return {"next": self._next, "open": self._is_open, "samples": samples}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state; raise KeyError, TypeError or ValueError if it does not fit."""
        number, samples = state["next"], state["samples"]
        if type(number) is not int or not BEGIN <= number <= -BEGIN:
            raise ValueError(f"its next row must be a whole number, got {number!r}")
        if set(samples) != set(self.channels):
            raise ValueError("its channels are not those of the raster")
        restored = {}
        for name, (times, values) in samples.items():
            if any(type(time) is not int for time in times) or times != sorted(times):
                raise ValueError(f"the times of {name!r} must be whole numbers in order")
            if len(times) != len(values) or not all(map(math.isfinite, values)):
                raise ValueError(f"the values of {name!r} must be one finite number per time")
            restored[name] = np.array(times, np.int64), np.array(values, np.float64)
        self._next, self._is_open = number, bool(state.get("open", False))
        for name, (times, values) in restored.items():
            self._times[name], self._values[name] = times, values

    def _all_runs(self, until: int) -> tuple[Micros, Micros]:
        """Return the first and last numbers of the runs of rows, of all channels."""
        last = until // self.interval
        shared = {(id(self._times[name]), self._ages[name]): name for name in self.channels}
        runs = [self._runs(name, until, last) for name in shared.values()]
        starts = np.concatenate([run[0] for run in runs] or [np.empty(0, np.int64)])
        ends = np.concatenate([run[1] for run in runs] or [np.empty(0, np.int64)])
        if self._is_open and self._next <= last:  # the sample it had may be forgotten
            starts, ends = np.append(starts, self._next), np.append(ends, self._next)
        return _merge(starts, ends)

    def _runs(self, name: str, until: int, last: int) -> tuple[Micros, Micros]:
        """Return the runs of rows in which a channel has a value, each with the row after it."""
        times = self._times[name]
        times = times[: np.searchsorted(times, until, side="right")]
        firsts = -(-times // self.interval)
        lasts = (times + self._ages[name]) // self.interval
        starts, ends = np.maximum(firsts, self._next), np.minimum(lasts + 1, last)
        filled = (firsts <= lasts) & (starts <= ends)
        if not filled.all():
            starts, ends = starts[filled], ends[filled]
        breaks = np.flatnonzero(starts[1:] > ends[:-1] + 1)  # both are in order, as times are
        return starts[np.r_[0, breaks + 1][: len(starts)]], ends[np.r_[breaks, -1][: len(ends)]]

    def _column(
        self, name: str, rows: int, places: NDArray[np.intp] | None, ages: Micros | None
    ) -> Values:
        """Return the values of a channel in rows, and count them.

        ``places`` are the numbers of its last samples before each row, ``ages`` their ages; None if
        it has no samples.
        """
        count = self.counts[name]
        if places is None or ages is None:
            count.missing += rows
            return np.full(rows, np.nan)
        known = (places >= 0) & (ages <= self._ages[name])
        fresh = int((known & (ages < self.interval)).sum())
        count.fresh += fresh
        count.held += int(known.sum()) - fresh
        count.missing += rows - int(known.sum())
        return np.where(known, self._values[name][places], np.nan)

    def _forget(self, until: int) -> None:
        """Drop the samples before the last one at or before a time; times stay shared."""
        kept: dict[int, tuple[int, Micros]] = {}
        for name, times in list(self._times.items()):
            if id(times) not in kept:
                first = max(0, int(np.searchsorted(times, until, side="right")) - 1)
                kept[id(times)] = first, times[first:]
            first, self._times[name] = kept[id(times)]
            self._values[name] = self._values[name][first:]


def _merge(starts: Micros, ends: Micros) -> tuple[Micros, Micros]:
    """Return the union of runs of numbers as runs in order that do not touch.

    >>> [run.tolist() for run in _merge(np.array([8, 1, 3]), np.array([9, 2, 5]))]
    [[1, 8], [5, 9]]
    """
    if not len(starts):
        return starts, ends
    order = np.argsort(starts, kind="stable")
    starts, reach = starts[order], np.maximum.accumulate(ends[order])
    breaks = starts[1:] > reach[:-1] + 1
    first, last = np.concatenate([[True], breaks]), np.concatenate([breaks, [True]])
    return starts[first], reach[last]


def _expand(starts: Micros, ends: Micros) -> Micros:
    """Return the numbers in runs.

    >>> _expand(np.array([1, 8]), np.array([3, 9])).tolist()
    [1, 2, 3, 8, 9]
    """
    sizes = ends - starts + 1
    if not len(sizes):
        return np.empty(0, np.int64)
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    numbers: Micros = np.arange(int(sizes.sum()), dtype=np.int64)
    numbers += np.repeat(starts - before, sizes)
    return numbers
