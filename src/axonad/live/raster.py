"""Rows of one vehicle from samples as they come; the fast twin of :class:`~axonad.data.Resampler`.

A row is complete when no further sample can belong to it: when a sample came that is newer by the
allowed lateness. Without lateness that is the next later sample, or already the sample of the row's
own time if all channels have a value then. What is complete depends on the samples alone, never on
a clock, so a restart gives the same rows.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float64]

BEGIN = -(2**62)  # before all times
RECENT = 256  # times remembered to tell a repeated sample from a late one

ACCEPTED, LATE, DUPLICATE = "", "late", "duplicate"


class LiveRaster:
    """Collects samples, rows of values with NaN for channels without one, and returns raster rows.

    Parameters
    ----------
    max_age
        Microseconds for which the value of each channel is held.
    interval
        Microseconds between rows; None makes each sample time a row.
    lateness
        Microseconds by which a sample may be older than the newest one.
    """

    def __init__(self, max_age: NDArray[np.int64], *, interval: int | None, lateness: int) -> None:
        self.interval, self.lateness = interval, lateness
        self.newest = BEGIN
        self._ages = max_age
        self._pending: list[tuple[int, Row]] = []  # in order of time, each time once
        self._values = np.full(len(max_age), np.nan)
        self._times = np.full(len(max_age), BEGIN, dtype=np.int64)
        self._next = BEGIN  # number of the next row
        self._is_open = False  # whether the last row had a value
        self._settled = BEGIN
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._ones = np.ones(len(max_age))
        self._full = BEGIN  # time of the last sample applied that had all channels

    def begin_after(self, time: int) -> None:
        """Begin with samples after a time, that of the newest sample of a raster that was lost."""
        self.newest, self._settled = time, time - self.lateness

    def push(self, time: int, row: Row) -> str:
        """Add a sample; return ``ACCEPTED``, or why it is refused.

        The row is kept; it must not be changed afterwards.
        """
        if time <= self._settled:
            return DUPLICATE if time in self._recent else LATE
        pending = self._pending
        place = len(pending)
        if pending and pending[-1][0] >= time:
            place = bisect_right(pending, time, key=_time)
            if place and pending[place - 1][0] == time:
                place -= 1
                known = pending[place][1]
                new = np.isnan(known) & ~np.isnan(row)
                if not new.any():
                    return DUPLICATE
                row = np.where(new, row, known)
                del pending[place]
        pending.insert(place, (time, row))
        self.newest = max(self.newest, time)
        if self.lateness:
            self._settled = self.newest - self.lateness
        else:
            complete = time == self.newest and self._is_full(row)
            self._settled = self.newest if complete else self.newest - 1
        return ACCEPTED

    def take(self) -> list[tuple[int, Row]]:
        """Return the complete rows that were not returned before, with their times."""
        pending, rows = self._pending, list[tuple[int, Row]]()
        used = 0
        if self.interval is None:
            while used < len(pending) and pending[used][0] <= self._settled:
                self._recent.append(pending[used][0])
                rows.append(pending[used])
                used += 1
            del pending[:used]
            return rows
        interval, last = self.interval, self._settled // self.interval
        if self._next == BEGIN:
            if not pending or pending[0][0] > self._settled:
                return rows
            self._next = -(-pending[0][0] // interval)
        while self._next <= last:
            time = self._next * interval
            while used < len(pending) and pending[used][0] <= time:
                self._apply(*pending[used])
                used += 1
            self._next += 1
            if self._full == time:  # a sample with all channels, right on the raster
                rows.append((time, self._values.copy()))
                self._is_open = True
                continue
            known = time - self._times <= self._ages
            if known.all():
                rows.append((time, self._values.copy()))
                self._is_open = True
            elif known.any():
                rows.append((time, np.where(known, self._values, np.nan)))
                self._is_open = True
            else:
                if self._is_open:  # one row without values parts what is before from what follows
                    rows.append((time, np.full(len(known), np.nan)))
                    self._is_open = False
                ahead = -(-pending[used][0] // interval) if used < len(pending) else last + 1
                self._next = max(self._next, min(ahead, last + 1))
        del pending[:used]
        return rows

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        return {
            "newest": self.newest,
            "settled": self._settled,
            "next": self._next,
            "open": self._is_open,
            "values": _listed(self._values),
            "times": self._times.tolist(),
            "pending": [[time, _listed(row)] for time, row in self._pending],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state; raise KeyError, TypeError or ValueError if it does not fit."""
        channels = len(self._ages)
        whole = [state["newest"], state["settled"], state["next"], *state["times"]]
        pending = [(time, _row(row, channels)) for time, row in state["pending"]]
        whole += [time for time, _ in pending]
        if any(type(number) is not int for number in whole) or len(state["times"]) != channels:
            raise ValueError(
                f"its times must be whole numbers, one for each of {channels} channels"
            )
        self.newest, self._settled, self._next = whole[:3]
        self._is_open = bool(state["open"])
        self._values = _row(state["values"], channels)
        self._times = np.array(state["times"], dtype=np.int64)
        self._pending = sorted(pending, key=_time)

    def _apply(self, time: int, row: Row) -> None:
        self._recent.append(time)
        if self._is_full(row):
            self._values[:] = row
            self._times.fill(time)
            self._full = time
        else:
            known = ~np.isnan(row)
            np.copyto(self._values, row, where=known)
            self._times[known] = time

    def _is_full(self, row: Row) -> bool:
        """Return whether a row has no NaN; one of huge values may count as if it had one."""
        return not math.isnan(row.dot(self._ones))


def _time(sample: tuple[int, Row]) -> int:
    return sample[0]


def _listed(row: Row) -> list[float | None]:
    return [None if math.isnan(value) else value for value in row.tolist()]


def _row(values: Any, channels: int) -> Row:
    row = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
    if row.shape != (channels,):
        raise ValueError(f"a row must have {channels} values, got {len(row)}")
    return row
