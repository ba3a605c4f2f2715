"""Where the rows of a recording lie in time, and how times are written."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.data.timing import sampling_interval, to_seconds
from axonad.report.amounts import format_duration
from axonad.report.page.content import DATE, SECONDS, STEP, Array
from axonad.report.times import format_time


@dataclass(frozen=True, eq=False)
class Axis:
    """Positions of the rows: seconds, or row numbers if the times are missing or do not rise.

    ``interval`` is the usual time between two rows in seconds, None if it is not known.
    """

    x: Array
    kind: str
    interval: float | None

    @classmethod
    def of(cls, times: NDArray[Any] | None, rows: int, *, usual: float | None = None) -> Self:
        """Return the axis of a recording; ``usual`` is its interval if its times do not tell."""
        seconds = None if times is None else to_seconds(times)
        if times is None or seconds is None or not _rises(seconds):
            return cls(np.arange(rows, dtype=np.float64), STEP, usual)
        kind = DATE if _is_date(times) else SECONDS
        return cls(seconds, kind, sampling_interval(seconds) or usual)

    @property
    def step(self) -> float:
        """Usual distance between two rows on the axis."""
        return 1.0 if self.kind == STEP or self.interval is None else self.interval

    def length(self, start: int, end: int) -> float:
        """Return the duration of rows in seconds, or their number without times."""
        return float(self.x[end - 1] - self.x[start]) + self.step

    def duration(self, start: int, end: int) -> str:
        """Return the duration of rows in words."""
        rows = end - start
        if self.kind == STEP:
            return f"{rows:,} row{'s' if rows != 1 else ''}"
        return format_duration(self.length(start, end))

    def time(self, value: Any) -> str:
        """Return a time of an event, or the number of its row, in words."""
        text = format_time(value)
        if isinstance(value, str | dt.datetime | np.datetime64):
            return text.replace("T", " ")
        return f"row {text}" if self.kind == STEP else f"{text} s"


def position_text(x: float, kind: str) -> str:
    """Return a position on an axis in words; that of a date in UTC.

    >>> [position_text(90.5, kind) for kind in (DATE, SECONDS, STEP)]
    ['1970-01-01 00:01:30.500', '90.5 s', 'row 90']
    """
    if kind == DATE:
        moment = dt.datetime.fromtimestamp(round(x, 3), tz=dt.UTC)
        return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{moment.microsecond // 1000:03d}"
    return f"row {x:.0f}" if kind == STEP else f"{format_time(float(x))} s"


def _rises(seconds: Array) -> bool:
    return bool(np.isfinite(seconds).all() and (np.diff(seconds) > 0).all())


def _is_date(times: NDArray[Any]) -> bool:
    if times.dtype.kind in "iufm":
        return False
    return times.dtype.kind in "MUT" or isinstance(times[0], str | dt.datetime)
