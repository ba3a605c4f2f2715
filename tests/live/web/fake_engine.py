"""An engine of invented vehicles, for everything that shows one."""

from __future__ import annotations

from dataclasses import replace
from threading import RLock

import numpy as np

from axonad.live.engine.contract import Health, Model
from axonad.live.record import Action, Course, EventQuery, EventRecord, VehicleStatus, event_id
from axonad.live.store.contract import Commit, StoreUnavailableError
from axonad.live.store.memory import MemoryStore, join_courses

SECOND = 1_000_000
START = 1_767_225_600 * SECOND  # 2026-01-01 00:00:00 UTC
CHANNELS = ("speed", "yaw_rate", "steering_angle", "brake <b>pressure</b>")
HOSTILE = (
    "a/b", "../..", "<img src=x onerror=window.broken=1>", "Zürich 🚗 %2F",
    'q"uo\'te&amp;', "x/scores",
    "\u202egnp.exe", "?search=1#top", "a" * 128,
)  # fmt: skip


class FakeEngine:
    """Implements the engine's protocol in memory; tests script what happens."""

    def __init__(self, vehicles=(), *, channels=CHANNELS, interval=0.1):
        self.model = Model("PCA", "0123abcd", tuple(channels), interval, 3.0, {"speed": "m/s"})
        self.lock = RLock()
        self.known: dict[str, VehicleStatus] = {}
        self.courses: dict[str, Course] = {}
        self.store = MemoryStore()
        self.store.start(model="")
        self.current = Health(
            True, queue=1000, counts={"samples": 5, "late": 1}, latency={"p50": 0.02, "p99": 0.1}
        )
        self.is_gone = False
        self.is_running = False
        self.commits = 0
        for name in vehicles:
            self.add(name)

    # -- scripting ---------------------------------------------------------------------------

    def add(self, name, *, state="ok", score=1.0, rows=300, firing=(), counts=None):
        """Add a vehicle with a smooth drive."""
        last = START + (rows - 1) * 100_000
        with self.lock:
            self.courses[name] = make_course(0, rows, len(self.model.channels))
            self.known[name] = VehicleStatus(
                name, state, last, last / SECOND, score, rows, tuple(firing), counts or {}
            )

    def change(self, name, **fields):
        """Change the status of a vehicle."""
        with self.lock:
            self.known[name] = replace(self.known[name], **fields)

    def drive(self, name, rows=10, *, alarm=False):
        """Let a vehicle send more rows."""
        with self.lock:
            old = self.courses[name]
            new = make_course(len(old), len(old) + rows, len(self.model.channels), alarm=alarm)
            self.courses[name] = join_courses([old, new], -(2**62), 2**62, rows=10**9)
            last = int(new.times[-1])
            self.change(name, last_time=last, last_seen=last / SECOND, score=float(new.scores[-1]))

    def fire(self, vehicle, number=1, **fields):
        """Store an event and return it."""
        begins = START + 10 * SECOND + number * SECOND
        event = EventRecord(
            **{
                "id": event_id(vehicle, "anomaly", number, 0), "vehicle": vehicle, "number": number,
                "kind": "anomaly", "severity": "alarm", "status": "firing", "begins": begins,
                "ends": begins + 5 * SECOND, "fired": begins + SECOND, "peak": begins + 2 * SECOND,
                "score": 7.5, "channels": (self.model.channels[1],),
            }
            | fields
        )  # fmt: skip
        self.commits += 1
        self.store.commit(Commit(self.commits, events=[event]))
        return event

    # -- the protocol --------------------------------------------------------------------------

    def attach(self, look):
        pass

    def start(self):
        self.is_running = True

    def stop(self):
        self.is_running = False

    def submit(self, delivery, *, timeout=0.0):
        raise NotImplementedError

    def position(self, source):
        return None

    def health(self):
        return self.current

    def vehicles(self):
        with self.lock:
            return sorted(self.known.values(), key=lambda one: one.vehicle)

    def vehicle(self, name):
        return self.known.get(name)

    def recent(self, vehicle, *, rows):
        course = self.courses.get(vehicle)
        if course is None:
            return None
        part = slice(max(0, len(course) - rows), None)
        return Course(
            course.times[part], course.values[part], course.scores[part], course.alarms[part]
        )

    def course(self, vehicle, start, end, *, rows):
        self._check()
        course = self.courses.get(vehicle)
        return None if course is None else join_courses([course], start, end, rows=rows)

    def events(self, query: EventQuery):
        self._check()
        return self.store.events(query)

    def event(self, id):
        self._check()
        return self.store.event(id)

    def act(self, id, action: Action):
        self._check()
        return self.store.act(id, action)

    def _check(self):
        if self.is_gone:
            raise StoreUnavailableError("the database is gone")


def make_course(first, last, channels, *, alarm=False):
    """Return rows of smooth channels, each a little later than the one before."""
    rows = np.arange(first, last)
    phase = rows[:, None] / 20 + np.arange(channels)
    values = (np.sin(phase) * 4 + np.arange(channels)).astype(np.float32)
    scores = (1 + 0.5 * np.sin(rows / 30) + 4 * alarm).astype(np.float32)
    return Course(START + rows * 100_000, values, scores, np.full(len(rows), alarm))


def band(values):
    """Return a band around smooth channels."""
    return values - 1.0, values + 1.0
