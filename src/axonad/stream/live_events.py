"""Alarms of a live stream as events, each returned when it has ended.

The events are those of :func:`axonad.threshold.find_events`, with the same gap. An event ends once
more rows than ``gap`` have come without an alarm, where the window was cleared, and at the end of
the stream. A stream has no scores for the rows that fill the first window; a file gives these rows
the score of that window, so an event at the very beginning of a file starts there earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Names
from axonad.stream.chunks import TimedEvent
from axonad.stream.window_scorer import StreamResult
from axonad.threshold import Event, rank_channels

TOP = 4  # channels listed
NEVER = -1e300  # stands for the blame of a channel that is never blamed, minus infinity

Blame = NDArray[np.float64] | None


@dataclass
class _Open:
    """An event that has not ended: what is known of it up to its last alarm."""

    start: int
    end: int
    peak: int
    score: float
    begins: Any
    ends: Any
    blame: list[float] | None
    after: list[float] | None = field(default=None)  # blame of the rows since its last alarm


class LiveEvents:
    """Collects the alarms of one stream.

    Parameters
    ----------
    names
        Names of the channels, None if they have no names.
    gap
        Alarms at most this many rows apart are one event.
    """

    def __init__(self, names: Names, *, gap: int) -> None:
        self._names, self._gap = names, gap
        self._open: _Open | None = None

    @property
    def is_open(self) -> bool:
        """Whether an event has begun and not ended."""
        return self._open is not None

    def add(self, result: StreamResult, blame: Callable[[], Blame], time: Any) -> TimedEvent | None:
        """Add the result of a row; return the event that has ended with it, if one has.

        ``time`` is the row's time, or its step if the stream has no times. ``blame`` returns how
        anomalous each channel is in the row. It is only called for alarms and for the few rows
        after them that may turn out to lie inside the event.
        """
        step, known = result.step, self._open
        if result.alarm:
            ended = self.skip(step - 1)
            known, found = self._open, _listed(blame())
            if known is None:
                self._open = _Open(step, step + 1, step, result.score, time, time, found)
                return ended
            if result.score > known.score:
                known.peak, known.score = step, result.score
            known.end, known.ends = step + 1, time
            known.blame, known.after = _larger(_larger(known.blame, known.after), found), None
            return ended
        if known is not None and step - known.end < self._gap:
            known.after = _larger(known.after, _listed(blame()))
        return self.skip(step)

    def skip(self, step: int) -> TimedEvent | None:
        """Tell that rows up to ``step`` had no alarm; return the event that has ended, if any."""
        if self._open is None or step - self._open.end < self._gap:
            return None
        return self.finish()

    def finish(self) -> TimedEvent | None:
        """End the open event, as after a gap or at the end of the stream, and return it."""
        known, self._open = self._open, None
        if known is None:
            return None
        channels: tuple[str, ...] = ()
        if known.blame is not None:
            blame = np.array(known.blame)
            blame[blame <= NEVER] = -np.inf
            channels = rank_channels(blame, self._names, top=TOP)
        event = Event(known.start, known.end, known.peak, known.score, channels)
        return TimedEvent(event, known.begins, known.ends)

    def state(self) -> dict[str, Any] | None:
        """Return the open event, as JSON values."""
        return None if self._open is None else dict(vars(self._open))

    def restore(self, state: Mapping[str, Any] | None) -> None:
        """Restore an open event; raise KeyError, TypeError or ValueError if it does not fit."""
        self._open = None
        if state is None:
            return
        found = _Open(**state)
        steps = (found.start, found.peak, found.end)
        if any(type(step) is not int for step in steps) or not 0 <= steps[0] <= steps[1] < steps[2]:
            raise ValueError(f"its open event has the steps {steps}")
        found.score = float(found.score)
        for blame in filter(None, (found.blame, found.after)):
            values = np.array(blame, dtype=np.float64)
            if values.ndim != 1 or (self._names is not None and len(values) != len(self._names)):
                raise ValueError("its open event has not one value for each channel")
        self._open = found


def _listed(blame: Blame) -> list[float] | None:
    """Return the blame as JSON values, which have no infinity."""
    return None if blame is None else np.maximum(blame, NEVER).tolist()


def _larger(one: list[float] | None, other: list[float] | None) -> list[float] | None:
    """Return the larger value of each channel."""
    if one is None or other is None:
        return one if other is None else other
    return list(map(max, one, other))
