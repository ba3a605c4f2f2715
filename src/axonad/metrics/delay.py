"""What an operator asks of an alarm: which events were found, how late, how many false alarms."""

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
    """Operator figures of one series.

    A *false alarm* is a run of alarm steps that touches no event: one call to the operator,
    however long it lasts. A *delay* is counted from an event's first step to its first alarm
    step, so 0 means at once; a missed event has the delay None.
    """

    threshold: float | None  # alarm when score >= threshold; None when alarms were given
    precision: float  # share of alarm steps inside events; NaN without alarms
    recall: float  # share of event steps with an alarm; NaN without events
    events: int
    found: int
    missed: int
    delays: tuple[int | None, ...]  # steps, one per event
    delays_seconds: tuple[float | None, ...] | None  # None where times are not known
    false_alarms: int
    false_alarm_steps: int  # alarm steps outside events, true alarms' margins included
    false_alarms_per_1000_steps: float
    false_alarms_per_hour: float | None  # None where times are not known

    @property
    def median_delay(self) -> float | None:
        """Median delay of the found events in steps, or None when none was found."""
        known = [delay for delay in self.delays if delay is not None]
        return float(np.median(known)) if known else None

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, ready for JSON (undefined ones as None)."""
        plain = asdict(self) | {"median_delay": self.median_delay}
        return {name: None if value != value else value for name, value in plain.items()}  # noqa: PLR0124


def describe_alarms(
    alarms: ArrayLike,
    labels: ArrayLike,
    *,
    times: ArrayLike | None = None,
    threshold: float | None = None,
) -> AlarmReport:
    """Return events found and missed, delays and false alarms of given alarms.

    Labels without any event are welcome here: the false alarms are then all there is to see.

    Parameters
    ----------
    alarms, labels
        0 or 1 for every step.
    times
        Time of every step, as datetimes or as seconds, never decreasing.
    threshold
        Noted in the report; not applied.
    """
    raised = check_binary(alarms, name="alarms")
    truth = check_labels(labels, size=raised.size, other="alarms")
    seconds = None if times is None else _to_seconds(times, raised.size)
    starts, stops = find_ranges(truth)
    first = _first_alarms(raised, starts, stops)
    delays = tuple(
        None if at < 0 else int(at - start) for at, start in zip(first, starts, strict=True)
    )
    lag_seconds = None
    if seconds is not None:
        lag_seconds = tuple(
            None if at < 0 else float(seconds[at] - seconds[start])
            for at, start in zip(first, starts, strict=True)
        )
    hits, count = int(np.count_nonzero(raised & truth)), int(np.count_nonzero(raised))
    false = _count_false(raised, starts, stops)
    found = int(np.count_nonzero(first >= 0))
    hours = None if seconds is None else _span_hours(seconds)
    return AlarmReport(
        threshold=threshold,
        precision=hits / count if count else float("nan"),
        recall=hits / int(truth.sum()) if starts.size else float("nan"),
        events=int(starts.size),
        found=found,
        missed=int(starts.size) - found,
        delays=delays,
        delays_seconds=lag_seconds,
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
    """Return the number of alarm runs that touch no event."""
    begin, end = find_ranges(raised)
    following = np.searchsorted(stops, begin, side="right")  # first event not over at begin
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
    """Return the duration of the series, the last step counted with a typical length."""
    if seconds.size < 2:
        return None
    return float(seconds[-1] + np.median(np.diff(seconds))) / 3600
