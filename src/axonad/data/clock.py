"""The time of rows as they come: where it breaks, by the rules of :mod:`axonad.data.timing`.

Time breaks where it runs backwards or a step is longer than a gap. Rows without a time are not
judged; the next time is compared with the last known one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.timing import Seconds, judge_steps, to_second, to_seconds
from axonad.errors import InputError


class Clock:
    """The last time of a stream, and the number of its gaps and repeated times."""

    def __init__(self) -> None:
        self.gaps = self.repeated = 0
        self.last = math.nan

    def advance(self, second: float, interval: float | None) -> bool:
        """Go on to the next time; return whether it breaks with the one before."""
        if math.isnan(second):
            return False
        same, backward, late = judge_steps(second - self.last, interval)
        self.last = second
        self.repeated += bool(same)
        self.gaps += bool(backward or late)
        return bool(backward or late)

    def find_breaks(self, seconds: Seconds, interval: float | None) -> list[int]:
        """Return the numbers of the times to come that break with the one before."""
        _, backward, late = self._judge(seconds, interval)
        return np.flatnonzero(backward | late).tolist()

    def advance_many(self, seconds: Seconds, interval: float | None) -> None:
        """Go on to the last of many times."""
        same, backward, late = self._judge(seconds, interval)
        self.repeated += int(same.sum())
        self.gaps += int((backward | late).sum())
        known = seconds[np.isfinite(seconds)]
        self.last = float(known[-1]) if len(known) else self.last

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restore` needs, as JSON values."""
        last = None if math.isnan(self.last) else self.last
        return {"last": last, "gaps": self.gaps, "repeated": self.repeated}

    def restore(self, state: Mapping[str, Any] | None) -> None:
        """Restore a state; raise KeyError, TypeError or ValueError if it does not fit."""
        if state is None:
            return
        gaps, repeated, last = state["gaps"], state["repeated"], state["last"]
        counts = (gaps, repeated)
        if any(type(count) is not int or count < 0 for count in counts):
            raise ValueError(f"its gaps and repeated times must be counts, got {counts}")
        if last is not None and (type(last) not in (int, float) or not math.isfinite(last)):
            raise ValueError(f"its last time must be a number of seconds, got {last!r}")
        self.gaps, self.repeated = gaps, repeated
        self.last = math.nan if last is None else float(last)

    def _judge(self, seconds: Seconds, interval: float | None) -> tuple[NDArray[np.bool_], ...]:
        """Return which times repeat, run backwards or follow a gap."""
        known = np.flatnonzero(np.isfinite(seconds))
        steps = np.diff(seconds[known], prepend=self.last)
        masks = []
        for found in judge_steps(steps, interval):
            mask = np.zeros(len(seconds), dtype=bool)
            mask[known] = found
            masks.append(mask)
        return tuple(masks)


def read_times(times: Any, rows: int) -> Seconds:
    """Return the times of many rows as seconds; raise InputError if they cannot be read."""
    if isinstance(times, str | bytes | Mapping) or not isinstance(times, Iterable):
        raise InputError(f"times must be a list of times, got {type(times).__name__}")
    listed = times if isinstance(times, np.ndarray) else list(times)
    if len(listed) != rows:
        raise InputError(f"times must have {rows} entries, one for each row, got {len(listed)}")
    if isinstance(listed, np.ndarray) and listed.ndim == 1 and listed.dtype.kind in "iufMm":
        found = to_seconds(listed)
        if found is not None:
            return found
    return np.array([to_second(time) for time in listed], dtype=np.float64)
