"""The fleet as pages follow it: counts, vehicles and events that changed, and trouble."""

from __future__ import annotations

from collections import Counter
from typing import Any

from axonad.data.raster import SECOND
from axonad.errors import AxonADError
from axonad.live.engine.contract import Engine, Mark
from axonad.live.record import STATES, VehicleStatus

MOST_ROWS = 2_000  # vehicles of one message; those with another state go first
MOST_EVENTS = 200
Row = tuple[str, str, float | None, float, int]


class FleetTopic:
    """The differences between two looks at all vehicles."""

    def __init__(self, engine: Engine, *, started: str) -> None:
        self.engine, self.started = engine, started
        self._rows: dict[str, Row] = {}
        self._head: dict[str, Any] = {}
        self._mark: Mark | None = None

    def whole(self) -> dict[str, Any]:
        """Return what a page compares itself with; its rows it has from the server already."""
        rows = self._look()
        head = self._heading(rows)
        if self._mark is None:
            self._events()  # from here on
        if not self._head:
            self._rows, self._head = rows, head  # what changes after this look is news
        return {"started": self.started, **head}

    def news(self) -> dict[str, Any] | None:
        """Return vehicles and events that changed."""
        rows, before = self._look(), self._rows
        head = self._heading(rows)
        changed = [row for name, row in rows.items() if before.get(name) != row]
        moved = {row[0] for row in changed if row[0] not in before or before[row[0]][1] != row[1]}
        gone = [name for name in before if name not in rows]
        events = self._events()
        if not (changed or gone or events) and head == self._head:
            return None
        self._rows, self._head = rows, head
        changed.sort(key=lambda row: row[0] not in moved)
        return {
            **head,
            "rows": changed[:MOST_ROWS],
            "moved": bool(moved or gone),
            "events": events,
        }

    def _look(self) -> dict[str, Row]:
        return {status.vehicle: to_row(status) for status in self.engine.vehicles()}

    def _heading(self, rows: dict[str, Row]) -> dict[str, Any]:
        counts = dict.fromkeys(STATES, 0) | Counter(row[1] for row in rows.values())
        return {"counts": counts, "trouble": self.engine.health().told}

    def _events(self) -> list[dict[str, str]]:
        """Return ids and vehicles of the events that changed since the last look."""
        try:
            found, self._mark = self.engine.changes(self._mark, limit=MOST_EVENTS)
        except AxonADError:  # the trouble is told by the engine's health
            return []
        return [{"id": event.id, "vehicle": event.vehicle} for event in found]


def to_row(status: VehicleStatus) -> Row:
    """Return what the overview shows of a vehicle, with as many digits as it shows."""
    score = None if status.score is None else float(f"{status.score:.3g}")
    if score is not None and score - score != 0:  # NaN or infinite
        score = None
    seconds = status.last_time // SECOND
    return status.vehicle, status.state, score, seconds, len(status.firing)
