"""The newest rows of a vehicle as its page follows them, with the expected band of each channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.raster import SECOND
from axonad.live.engine.contract import Engine
from axonad.live.record import Course
from axonad.live.web.answers import finite
from axonad.live.web.expected import Array, Expect
from axonad.report.page.content import Curve
from axonad.report.page.packing import Packed, pack, pack_positions

ROWS = 600  # on the page
MOST_CHANNELS = 24  # on the page; a search shows others


@dataclass(frozen=True, eq=False)
class Newest:
    """The newest rows of a vehicle: positions in seconds, scores, and curves of some channels."""

    times: NDArray[np.int64]
    x: Array
    scores: Array
    alarms: NDArray[np.bool_]
    curves: tuple[Curve, ...]

    def packed(self, part: slice = slice(None)) -> Packed:
        """Return rows as the page's script reads them."""
        if not len(self.x[part]):
            return {"n": 0}
        return {
            "n": len(self.x[part]),
            "x": pack_positions(self.x[part]),
            "score": pack(self.scores[part]),
            "alarms": self.alarms[part].tolist(),
            "curves": [
                {"v": pack(c.actual[part]), "low": pack(c.low[part]), "high": pack(c.high[part])}
                for c in self.curves
            ],
        }


def chosen_channels(channels: tuple[str, ...], search: str) -> list[int]:
    """Return the places of the channels that a page shows, those with a text in their name."""
    part = search.casefold()
    return [i for i, name in enumerate(channels) if part in name.casefold()][:MOST_CHANNELS]


def newest_rows(engine: Engine, vehicle: str, expect: Expect | None, *, search: str = "") -> Newest:
    """Return the newest rows of a vehicle, none if it has none in memory."""
    channels = engine.model.channels
    course = engine.recent(vehicle, rows=ROWS)
    if course is None:
        course = _no_rows(len(channels))
    values = course.values.astype(np.float64)
    unknown = np.full(values.shape, np.nan)
    low, high = (unknown, unknown) if expect is None or not len(course) else expect(values)
    x = course.times / SECOND
    curves = tuple(
        Curve(channels[i], x, values[:, i], (low[:, i] + high[:, i]) / 2, low[:, i], high[:, i])
        for i in chosen_channels(channels, search)
    )
    return Newest(course.times, x, course.scores.astype(np.float64), course.alarms, curves)


class VehicleTopic:
    """The rows of a vehicle that came since the last look."""

    def __init__(
        self, engine: Engine, vehicle: str, expect: Expect | None, *, search: str, started: str
    ) -> None:
        self.engine, self.vehicle, self.expect = engine, vehicle, expect
        self.search, self.started = search, started
        self._last: int | None = None
        self._head: dict[str, Any] = {}

    def whole(self) -> dict[str, Any]:
        """Return all newest rows."""
        newest = newest_rows(self.engine, self.vehicle, self.expect, search=self.search)
        if self._last is None and len(newest.times):
            self._last = int(newest.times[-1])
        return {"started": self.started, **self._heading(), "rows": newest.packed()}

    def news(self) -> dict[str, Any] | None:
        """Return the rows since the last look; a page has the others, and skips what it has."""
        head = self._heading()
        course = self.engine.recent(self.vehicle, rows=1)
        last = None if course is None or not len(course) else int(course.times[-1])
        if head == self._head and last == self._last:
            return None
        self._head = head
        if last is None or last == self._last:
            return head
        newest = newest_rows(self.engine, self.vehicle, self.expect, search=self.search)
        start = 0 if self._last is None else int(np.searchsorted(newest.times, self._last, "right"))
        self._last = int(newest.times[-1])
        return {**head, "rows": newest.packed(slice(start, None))}

    def _heading(self) -> dict[str, Any]:
        status = self.engine.vehicle(self.vehicle)
        trouble = self.engine.health().told
        if status is None:
            return {"state": "", "trouble": trouble}
        return {
            "state": status.state,
            "score": finite(status.score),
            "last": status.last_time // SECOND,
            "firing": list(status.firing),
            "trouble": trouble,
        }


def _no_rows(channels: int) -> Course:
    return Course(
        np.zeros(0, np.int64),
        np.zeros((0, channels), np.float32),
        np.zeros(0, np.float32),
        np.zeros(0, np.bool_),
    )
