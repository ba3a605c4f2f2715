"""An engine that collects deliveries; a test decides whether they are stored."""

from __future__ import annotations

import time
from threading import Lock

from axonad.live.inbox import OverloadError
from axonad.live.sample import Receipt

PATIENCE = 60  # seconds; reached only if something is broken


class FakeEngine:
    """Collects deliveries. ``mode`` is what becomes of them: store, withhold, fail or full."""

    def __init__(self, mode="store", positions=None):
        self.mode = mode
        self.positions = dict(positions or {})
        self.stored = []  # deliveries
        self.withheld = []
        self.refusals = 0
        self._lock = Lock()

    def submit(self, delivery, *, timeout=0.0):
        with self._lock:
            if self.mode == "full":
                self.refusals += 1
                raise OverloadError("full")
            if self.mode == "withhold":
                self.withheld.append(delivery)
                return
            if self.mode == "fail":
                self.refusals += 1
            else:
                self._store(delivery)
                return
        delivery.done(Receipt(error="the database is away"))

    def release(self):
        """Store what was withheld, and everything from now on."""
        with self._lock:
            self.mode = "store"
            waiting, self.withheld = self.withheld, []
            for delivery in waiting:
                self._store(delivery)

    def position(self, source):
        return self.positions.get(source)

    @property
    def samples(self):
        return [sample for delivery in list(self.stored) for sample in delivery.samples]

    def _store(self, delivery):
        self.stored.append(delivery)
        if delivery.position is not None:
            self.positions[delivery.position[0]] = delivery.position[1]
        delivery.done(Receipt(accepted=len(delivery.samples)))


def wait_for(condition, what="the condition"):
    """Wait until a condition holds."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, f"{what} does not come about"
        time.sleep(0.01)


def without_repeats(samples):
    """Return the times of samples in the order in which each came first."""
    return list(dict.fromkeys(sample.time for sample in samples))
