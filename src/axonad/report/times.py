"""Times as text, for tables, and as positions on an axis, for figures."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIGITS = 6  # decimals of a number of seconds: microseconds


def format_time(value: Any) -> str:
    """Return a time as people write it; a missing one is an empty string.

    >>> format_time(64.685000001), format_time(np.datetime64("2026-01-01T12:00:00.500000000"))
    ('64.685', '2026-01-01T12:00:00.5')
    """
    if value is None or value != value:  # noqa: PLR0124 - NaN and NaT
        return ""
    if isinstance(value, np.datetime64):
        text = str(np.datetime_as_string(value.astype("datetime64[ns]")))
        return text.rstrip("0").rstrip(".")
    if isinstance(value, dt.datetime):
        text, dot, fraction = value.isoformat().partition(".")
        digits = fraction[:6].rstrip("0")
        return text + (f".{digits}" if digits else "") + (fraction[6:] if dot else "")
    if isinstance(value, dt.timedelta | np.timedelta64):
        return format_time(float(np.timedelta64(value) / np.timedelta64(1, "s")))
    if isinstance(value, float | np.floating):
        return _format_number(value)
    return str(value)


def _format_number(value: float | np.floating[Any]) -> str:
    if not np.isfinite(value):
        return str(value)
    if value and abs(value) < 10 ** (3 - DIGITS):
        return f"{value:.3g}"
    if isinstance(value, np.floating) and value.itemsize < 8:
        return np.format_float_positional(value, trim="-")  # its own shortest form
    return np.format_float_positional(round(float(value), DIGITS), trim="-")


@dataclass(frozen=True)
class TimeAxis:
    """Where the steps of a series lie on the horizontal axis of a figure."""

    x: NDArray[np.float64]
    label: str
    is_date: bool = False
    cuts: tuple[int, ...] = ()  # steps at which a gap ends; no curve is drawn across one

    @classmethod
    def of(cls, times: NDArray[Any] | None, steps: int, cuts: tuple[int, ...] = ()) -> TimeAxis:
        """Return the axis for the times of a series; steps if they are text or go back."""
        kind = "" if times is None else times.dtype.kind
        if times is not None and kind in "iuf" and _rises(numbers := times.astype(np.float64)):
            return cls(numbers, "time (s)", cuts=cuts)
        if times is not None and kind == "M" and not np.isnat(times).any():
            numbers = np.asarray(_load_dates().date2num(times), dtype=np.float64)
            if _rises(numbers):
                return cls(numbers, "time", is_date=True, cuts=cuts)
        return cls(np.arange(steps, dtype=np.float64), "step", cuts=cuts)

    @property
    def half(self) -> float:
        """Half the usual distance between two steps."""
        return float(np.median(np.diff(self.x))) / 2 if len(self.x) > 1 else 0.5

    def curve(self, values: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return positions and values of a curve that is interrupted at each cut."""
        whole = values.astype(np.float64)
        return np.insert(self.x, self.cuts, np.nan), np.insert(whole, self.cuts, np.nan)

    def spans(self, start: int, end: int) -> list[tuple[float, float]]:
        """Return the edges of the steps from ``start`` up to ``end``, of each part between cuts."""
        inner = [cut for cut in self.cuts if start < cut < end]
        return [self.span(a, b) for a, b in pairwise([start, *inner, end])]

    def span(self, start: int, end: int) -> tuple[float, float]:
        """Return the edges of the steps from ``start`` up to ``end``."""
        return float(self.x[start]) - self.half, float(self.x[end - 1]) + self.half

    def label_axis(self, axis: Axes) -> None:
        """Set limits, ticks and label of the lowest panel of a figure."""
        axis.set_xlim(*self.span(0, len(self.x)))
        axis.set_xlabel(self.label, fontsize=9)
        axis.xaxis.get_offset_text().set_fontsize(8)
        if self.is_date:
            dates = _load_dates()
            locator = dates.AutoDateLocator()
            axis.xaxis.set_major_locator(locator)
            axis.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
        else:
            axis.ticklabel_format(axis="x", useOffset=False, style="plain")


def _load_dates() -> Any:
    return import_module("matplotlib.dates")


def _rises(numbers: NDArray[np.float64]) -> bool:
    return bool(np.isfinite(numbers).all() and (np.diff(numbers) > 0).all())
