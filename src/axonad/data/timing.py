"""The times of a series: its sampling interval, and the places where time breaks.

Time breaks where it runs backwards, or where a step is longer than ``GAP`` sampling intervals. No
window may include rows from both sides of a break. A few steps backwards are a clock that was set,
or recordings joined to one; many of them mean that the rows are not in order, which is refused. So
is a sampling interval more than ``RATE`` times longer or shorter than in training.

Numbers are seconds. Text is read by :mod:`axonad.data.time_text`; times that cannot be read are not
checked.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.time_text import parse_time
from axonad.errors import InputError

GAP = 10.0  # a longer step, in sampling intervals, is a gap; streams hold values for as many rows
RATE = 2.0  # largest ratio of the sampling intervals of a series and of its model
CLOSE = 1.25  # a larger ratio is worth a note
HEAD = 10_000  # rows from whose times the sampling interval is estimated
DISORDER = 0.01  # a larger share of steps backwards means that the rows are not in order
FEW = 3  # this many steps backwards are always accepted

Seconds = NDArray[np.float64]


def to_seconds(times: NDArray[Any]) -> Seconds | None:
    """Return times as seconds, NaN where one is missing; None if they cannot be read.

    >>> to_seconds(np.array(["2026-01-01T00:00:00Z", None, "2026-01-01 00:00:01.5+00:00"]))[2] % 60
    np.float64(1.5)
    """
    kind = times.dtype.kind
    if kind == "M":
        return _since_1970(times.astype("datetime64[ns]"))
    if kind == "m":
        return _since_1970(times.astype("timedelta64[ns]"))
    if kind in "iuf":
        seconds = times.astype(np.float64)
        return np.where(np.isfinite(seconds), seconds, np.nan)
    try:
        return np.array([_parse(value) for value in times.tolist()], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def to_second(time: Any) -> float:
    """Return one time as seconds, NaN if it is missing; raise InputError if it cannot be read.

    >>> to_second("1970-01-01T00:01:30Z"), to_second(np.datetime64(90, "s")), to_second(90)
    (90.0, 90.0, 90.0)
    """
    if type(time) is float:
        return time if np.isfinite(time) else np.nan
    if type(time).__name__ in ("NAType", "NaTType"):  # of pandas
        return np.nan
    try:
        if isinstance(time, bool | np.bool_ | np.complexfloating | bytes | bytearray):
            raise TypeError(time)
        if isinstance(time, np.datetime64 | np.timedelta64):
            return float(_since_1970(np.asarray(time).astype(f"{time.dtype.kind}8[ns]")))
        second = _parse(time)
        return second if np.isfinite(second) else np.nan
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"a time must be a number of seconds, a datetime or ISO 8601 text, got {time!r:.80}"
        ) from None


def judge_steps(steps: Any, interval: float | None) -> tuple[Any, Any, Any]:
    """Return whether steps in time are none, backwards, and gaps; each for all of ``steps``.

    Gaps are longer than ``GAP`` times the sampling ``interval``; without it there are none.
    """
    longest = np.inf if interval is None else GAP * interval
    return steps == 0, steps < 0, steps > longest


def sampling_interval(seconds: Seconds) -> float | None:
    """Return the usual step of the first ``HEAD`` times; None if time does not move forward.

    Where most times repeat, as with a clock in whole seconds, it is the mean step.
    """
    known = seconds[:HEAD]
    known = known[np.isfinite(known)]
    steps = np.diff(known)
    forward = steps[steps > 0]
    if len(forward) == 0:
        return None
    if np.median(steps) > 0 or len(forward) > len(steps) / 2:
        return float(np.median(forward))
    return float(forward.sum() / len(steps))


class TimeCheck:
    """Finds the breaks in the times of a series, given part by part, and what is odd about them.

    Parameters
    ----------
    interval
        Sampling interval of the model in seconds; None if it is not known. Then it is estimated
        from the first ``HEAD`` rows, so the breaks of the parts before are only found by
        :meth:`finish`.
    """

    def __init__(self, interval: float | None = None) -> None:
        self.model_interval = interval
        self.own_interval: float | None = None
        self.rows = self.unreadable = self.missing = self.repeated = 0
        self.backward: list[int] = []  # numbers of the rows at which time runs backwards
        self.gaps: list[int] = []  # numbers of the first rows after a gap
        self.longest = 0.0  # gap in seconds
        self._head: list[Seconds] | None = []
        self._waiting: list[Seconds] = []
        self._seen = 0  # rows looked at
        self._last = np.nan

    @property
    def breaks(self) -> list[int]:
        """Numbers of the rows that begin a new stretch."""
        return sorted({*self.backward, *self.gaps})

    def add(self, times: NDArray[Any] | None, rows: int) -> None:
        """Add the times of the next ``rows`` rows, None if they have none."""
        seconds = None if times is None else to_seconds(times)
        if seconds is None:
            self.unreadable += rows if times is not None else 0
            seconds = np.full(rows, np.nan)
        self.rows += rows
        if self._head is not None:
            self._head.append(seconds)
            if sum(map(len, self._head)) >= HEAD:
                self._estimate()
        self._waiting.append(seconds)
        if self._interval is not None or self._head is None:
            self._look()

    def finish(self, name: str) -> None:
        """Find the breaks of the rows added last; raise InputError for times not to be used."""
        self._estimate()
        self._look()
        if len(self.backward) > max(FEW, DISORDER * self.rows):
            count, first = len(self.backward), self.backward[0]
            raise InputError(
                f"{name}: time runs backwards at {count} of {self.rows} rows, first at row "
                f"{first}; sort the rows by time, or leave the time column out (--ignore)"
            )
        own, model = self.own_interval, self.model_interval
        same = f" ({_rows(self.repeated)} repeat a time)" if self.repeated else ""
        if own is not None and model is not None and not 1 / RATE <= own / model <= RATE:
            raise InputError(
                f"{name}: rows are {_seconds(own)} apart, in training they were {_seconds(model)} "
                f"apart{same}; resample, fit on such data, or leave the time column out (--ignore)"
            )

    def notes(self, *, spanned: bool = False) -> list[str]:
        """Return what the user should know, one sentence each.

        ``spanned`` says that windows across breaks are used nevertheless.
        """
        windows = "windows reach across it" if spanned else "no window reaches across it"
        found = []
        if self.unreadable:
            found.append(
                f"the times of {_rows(self.unreadable)} are neither numbers nor ISO 8601; gaps and "
                "order were not checked"
            )
        missing = self.missing - self.unreadable
        if 0 < missing < self.rows:
            found.append(f"{_rows(missing)} without a time")
        if self.repeated:
            found.append(f"{_rows(self.repeated)} with the same time as the row before")
        if self.backward:
            found.append(
                f"time runs backwards {_times(len(self.backward))}, first at row "
                f"{self.backward[0]}; {windows}"
            )
        if self.gaps:
            count = f"{len(self.gaps)} gaps" if len(self.gaps) > 1 else "1 gap"
            found.append(
                f"{count} in time, first before row {self.gaps[0]}, the longest "
                f"{_seconds(self.longest)}; {windows}"
            )
        own, model = self.own_interval, self.model_interval
        if own is not None and model is not None and not 1 / CLOSE <= own / model <= CLOSE:
            found.append(
                f"rows are {_seconds(own)} apart, in training they were {_seconds(model)} apart"
            )
        return found

    @property
    def _interval(self) -> float | None:
        return self.model_interval if self.model_interval is not None else self.own_interval

    def _estimate(self) -> None:
        if self._head is not None:
            self.own_interval = sampling_interval(np.concatenate([np.empty(0), *self._head]))
            self._head = None

    def _look(self) -> None:
        """Find the breaks in the times that wait."""
        seconds = np.concatenate([np.empty(0), *self._waiting])
        self._waiting = []
        known = np.isfinite(seconds)
        self.missing += int((~known).sum())
        rows = np.flatnonzero(known)
        steps = np.diff(seconds[rows], prepend=self._last)  # the first is NaN without a last time
        numbers = rows + self._seen
        same, backward, late = judge_steps(steps, self._interval)
        self.repeated += int(same.sum())
        self.backward += numbers[backward].tolist()
        self.gaps += numbers[late].tolist()
        self.longest = max(self.longest, float(steps[late].max(initial=0.0)))
        if len(rows):
            self._last = float(seconds[rows[-1]])
        self._seen += len(seconds)


def find_stretches(
    rows: int, breaks: list[int], unusable: list[tuple[int, int]] | None = None
) -> list[slice]:
    """Return the runs of usable rows without a break, given the runs of unusable rows.

    >>> find_stretches(6, [2], [(4, 5)])
    [slice(0, 2, None), slice(2, 4, None), slice(5, 6, None)]
    """
    runs = [(0, 0), *(unusable or []), (rows, rows)]
    usable = [(end, start) for (_, end), (start, _) in pairwise(runs) if end < start]
    found = []
    cuts = iter([*breaks, rows])
    cut = next(cuts)
    for first, last in usable:
        start = first
        while cut < last:
            if cut > start:
                found.append(slice(start, cut))
                start = cut
            cut = next(cuts)
        found.append(slice(start, last))
    return found


def find_runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the start and end of each run of true values.

    >>> find_runs(np.array([True, False, True, True]))
    [(0, 1), (2, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _since_1970(times: NDArray[Any]) -> Seconds:
    seconds = times.astype(np.int64) / 1e9
    return np.where(np.isnat(times), np.nan, seconds)


def _parse(value: Any) -> float:
    """Return one time of an object array as seconds."""
    if value is None:
        return np.nan
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, str):
        moment = parse_time(value)
    else:
        return float(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _seconds(value: float) -> str:
    return f"{value:.6g} s"


def _rows(count: int) -> str:
    return f"{count} row{'s' if count != 1 else ''}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
