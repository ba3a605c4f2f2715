"""What an operator needs to know: events found, detection delays and false alarms."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from axonad.errors import InputError
from axonad.metrics.case import check_binary, check_labels
from axonad.metrics.ranges import BoolArray, FloatArray, IntArray, find_ranges


@dataclass(frozen=True, kw_only=True)
class AlarmReport:
    """Found events, delays and false alarms of one series.

    A *false alarm* is a run of alarm steps that overlaps no event; its length does not count. A
    *delay* is the number of steps from the start of an event to its first alarm, None if missed.
    """

    threshold: float | None  # alarm when score >= threshold; None when alarms were given
    precision: float  # share of alarm steps inside events; NaN without alarms
    recall: float  # share of event steps with an alarm; NaN without events
    events: int
    found: int
    missed: int
    delays: tuple[int | None, ...]  # steps, one per event
    delays_seconds: tuple[float | None, ...] | None  # None without times
    false_alarms: int
    false_alarm_steps: int  # all alarm steps outside events, also of runs that overlap an event
    false_alarms_per_1000_steps: float
    false_alarms_per_hour: float | None  # None without times

    @property
    def median_delay(self) -> float | None:
        """Median delay of the found events in steps; None if no event was found."""
        known = [delay for delay in self.delays if delay is not None]
        return float(np.median(known)) if known else None

    def as_dict(self) -> dict[str, Any]:
        """Return all values ready for JSON, with NaN as None."""
        plain = asdict(self) | {"median_delay": self.median_delay}
        return {name: None if value != value else value for name, value in plain.items()}  # noqa: PLR0124


def describe_alarms(
    alarms: ArrayLike,
    labels: ArrayLike,
    *,
    times: ArrayLike | None = None,
    threshold: float | None = None,
) -> AlarmReport:
    """Return found and missed events, delays and false alarms; labels may be all 0.

    Parameters
    ----------
    alarms, labels
        0 or 1 for every step.
    times
        Time of every step in ascending order, as datetimes or seconds.
    threshold
        Stored in the report, not applied.
    """
    raised = check_binary(alarms, name="alarms")
    truth = check_labels(labels, size=raised.size, other="alarms")
    seconds = None if times is None else _to_seconds(times, raised.size)
    starts, stops = find_ranges(truth)
    first = _first_alarms(raised, starts, stops)
    found = first >= 0
    delays = tuple(int(lag) if ok else None for lag, ok in zip(first - starts, found, strict=True))
    delays_seconds = hours = None
    if seconds is not None:
        lags = seconds[first] - seconds[starts]
        delays_seconds = tuple(float(s) if ok else None for s, ok in zip(lags, found, strict=True))
        hours = _span_hours(seconds)
    hits, count = int(np.count_nonzero(raised & truth)), int(np.count_nonzero(raised))
    false = _count_false(raised, starts, stops)
    return AlarmReport(
        threshold=threshold,
        precision=hits / count if count else float("nan"),
        recall=hits / int(truth.sum()) if starts.size else float("nan"),
        events=int(starts.size),
        found=int(found.sum()),
        missed=int((~found).sum()),
        delays=delays,
        delays_seconds=delays_seconds,
        false_alarms=false,
        false_alarm_steps=count - hits,
        false_alarms_per_1000_steps=1000 * false / raised.size,
        false_alarms_per_hour=false / hours if hours else None,
    )


def _first_alarms(raised: BoolArray, starts: IntArray, stops: IntArray) -> IntArray:
    """Return the first alarm step inside each event, or -1."""
    steps = np.append(np.flatnonzero(raised), raised.size)
    first = steps[np.searchsorted(steps, starts)]
    return np.where(first < stops, first, -1)


def _count_false(raised: BoolArray, starts: IntArray, stops: IntArray) -> int:
    """Return the number of alarm runs that overlap no event."""
    begin, end = find_ranges(raised)
    following = np.searchsorted(stops, begin, side="right")  # first event that ends later
    return int(np.count_nonzero(np.append(starts, raised.size)[following] >= end))


def _to_seconds(times: ArrayLike, size: int) -> FloatArray:
    """Return seconds since the first step."""
    values = np.asarray(times)
    if values.shape != (size,):
        raise InputError(f"times must have one entry per step ({size}), got shape {values.shape}")
    if values.dtype.kind == "M":
        seconds = (values - values[0]) / np.timedelta64(1, "s")
    elif values.dtype.kind in "iuf":
        seconds = values.astype(np.float64) - float(values[0])
    else:
        raise InputError(
            f"times must be datetimes or seconds, got dtype {values.dtype}; convert them first"
        )
    if not np.isfinite(seconds).all() or (np.diff(seconds) < 0).any():
        raise InputError("times must be finite and never decrease; sort the series by time first")
    return np.asarray(seconds, dtype=np.float64)


def _span_hours(seconds: FloatArray) -> float | None:
    """Return the duration of the series, with the median step length for the last step."""
    if seconds.size < 2:
        return None
    return float(seconds[-1] + np.median(np.diff(seconds))) / 3600
