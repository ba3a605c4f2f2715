"""One vehicle in memory: its raster, its newest rows, its events that fire, and its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.live.raster import BEGIN, LiveRaster, Row
from axonad.live.record import Course, EventRecord


class RecentRows:
    """The newest rows of a vehicle with scores and alarms, in a ring."""

    def __init__(self, size: int, channels: int, *, first: int = 0) -> None:
        self.count = first  # rows of the stream so far; the number of the next one
        self._first = first
        self._size = size
        self._times = np.zeros(size, dtype=np.int64)
        self._values = np.zeros((size, channels), dtype=np.float32)
        self._scores = np.zeros(size, dtype=np.float32)
        self._alarms = np.zeros(size, dtype=bool)

    def add(self, time: int, row: Row, score: float, alarm: bool) -> None:
        """Add a row; the oldest one goes if the ring is full."""
        place = self.count % self._size
        self._times[place] = time
        self._values[place] = row
        self._scores[place] = score
        self._alarms[place] = alarm
        self.count += 1

    def course(self, rows: int) -> Course | None:
        """Return the newest rows; None if there are none."""
        count = self.count
        rows = min(rows, count - self._first, self._size)
        if rows <= 0:
            return None
        places = np.arange(count - rows, count) % self._size
        return Course(
            self._times[places], self._values[places], self._scores[places], self._alarms[places]
        )

    def time_of(self, row: int) -> int | None:
        """Return the time of a row by its number; None if it is no longer known."""
        if max(self._first, self.count - self._size) <= row < self.count:
            return int(self._times[row % self._size])
        return None


class VehicleStream:
    """The part of a vehicle's state that is not in the fleet.

    ``generation`` is the time of the stream's first sample.
    """

    def __init__(
        self,
        name: str,
        *,
        max_age: NDArray[np.int64],
        interval: int | None,
        lateness: int,
        recent: int,
    ) -> None:
        self.name = name
        self.raster = LiveRaster(max_age, interval=interval, lateness=lateness)
        self.generation = 0
        self.counts: Counter[str] = Counter()
        self.firing: dict[str, EventRecord] = {}
        self.unsaved: list[tuple[int, Row]] = []  # samples accepted since the last commit
        self.rows_unsaved = 0  # rows since the last snapshot
        self.has_tails = False  # whether samples were stored since the last snapshot
        self.last_seen = 0.0  # seconds since 1970, by the server
        self.seen_at = 0.0  # by its monotonic clock
        self.score: float | None = None
        self.recent = RecentRows(recent, len(max_age))

    @property
    def is_new(self) -> bool:
        """Whether no sample was ever accepted."""
        return self.raster.newest == BEGIN

    def begin_after(self, time: int) -> None:
        """Begin anew after the newest sample of a state that cannot be used."""
        self.generation = time + 1
        self.raster.begin_after(time)

    def state(self, stream: str) -> dict[str, Any]:
        """Return the whole state with that of its stream in the fleet, as JSON values."""
        return {
            "generation": self.generation,
            "raster": self.raster.state(),
            "counts": dict(self.counts),
            "score": self.score,
            "seen": self.last_seen,
            "stream": stream,
        }

    def restore(self, state: Mapping[str, Any]) -> str:
        """Restore a state; return that of its stream, empty if it had no row yet."""
        if type(state["generation"]) is not int:
            raise ValueError(f"its generation must be a whole number, got {state['generation']!r}")
        self.generation = state["generation"]
        self.raster.restore(state["raster"])
        self.counts = Counter({str(k): int(v) for k, v in state["counts"].items()})
        self.score = None if state["score"] is None else float(state["score"])
        self.last_seen = float(state["seen"])
        return str(state["stream"])
