"""The vehicles in memory, those that are only stored, and the way between."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Lock

from axonad.live.clock import ServerClock
from axonad.live.engine.putting import PatientStore
from axonad.live.event_records import FIRED, FIRING, RESOLVED, ended, notice_of
from axonad.live.record import EventQuery, EventRecord, Micros
from axonad.live.sample import Delivery
from axonad.live.store.contract import Commit
from axonad.live.watch import Watch

log = logging.getLogger("axonad.live")

NAMED = 5  # vehicles named in the log
MOST = 10_000  # events of a vehicle that are firing


class Memory:
    """Holds the watch; changed by the engine's thread alone, read by others under ``lock``.

    Parameters
    ----------
    make_watch
        Makes a watch without vehicles.
    store
        Where the states of vehicles are.
    clock, expire
        Vehicles that are silent for so many seconds leave memory.
    """

    def __init__(
        self,
        make_watch: Callable[[], Watch],
        store: PatientStore,
        *,
        clock: ServerClock,
        expire: float,
    ) -> None:
        self.lock = Lock()
        self.watch = make_watch()
        self.known: dict[str, Micros] = {}
        """All vehicles of the store, by last time."""
        self._make_watch, self._store = make_watch, store
        self._clock, self._expire = clock, expire

    def resume(self) -> None:
        """Resume the vehicles that were in memory; those long silent come back when they send."""
        self.known = self._store.vehicles()
        since = round((self._clock.now() - self._expire) * 1e6)
        self._resume(sorted(self._store.vehicles(since=since)))

    def bring_back(self, deliveries: Iterable[Delivery]) -> None:
        """Resume vehicles of deliveries that are stored but not in memory."""
        names = {sample.vehicle for delivery in deliveries for sample in delivery.samples}
        missing = [n for n in names if n in self.known and n not in self.watch.vehicles]
        self._resume(sorted(missing))

    def start_again(self) -> None:
        """Drop what is in memory, which a failed round left half changed, and resume."""
        counts = self.watch.counts
        with self.lock:
            self.watch = self._make_watch()
            self.watch.counts = counts
        self.resume()

    def silent(self) -> list[str]:
        """Return the vehicles that may leave memory."""
        return [vehicle.name for vehicle in self.watch.silent(self._expire)]

    def put_away(self, names: list[str]) -> None:
        """Store the whole state of vehicles and remove them from memory."""
        if not names:
            return
        with self.lock:
            snapshots = [self.watch.snapshot(self.watch.vehicles[name]) for name in names]
        self._store.commit(Commit(self._store.number + 1, snapshots=snapshots))
        with self.lock:
            for snapshot in snapshots:
                self.known[snapshot.vehicle] = snapshot.last_time
                self.watch.remove(snapshot.vehicle)

    def newest(self) -> Micros:
        """Return the time of the newest sample of all vehicles."""
        newest = [vehicle.raster.newest for vehicle in self.watch.vehicles.values()]
        return max([*newest, *self.known.values()], default=0)

    def _resume(self, names: list[str]) -> None:
        found = {name: saved for name in names if (saved := self._store.saved(name)) is not None}
        if not found:
            return
        with self.lock:
            lost = self.watch.resume(found)
        self._begin_anew(lost)

    def _begin_anew(self, lost: Mapping[str, str]) -> None:
        """Say which vehicles begin anew, and store which of their events end and which begin."""
        fired, over = list[EventRecord](), list[EventRecord]()
        for name in lost:
            fires = self.watch.vehicles[name].firing  # in the samples since the lost state
            query = EventQuery(vehicle=name, status=FIRING, limit=MOST)
            over += [ended(one) for one in self._store.events(query) if one.id not in fires]
            fired += fires.values()
        notices = [notice_of(one, RESOLVED) for one in over] + [notice_of(e, FIRED) for e in fired]
        if notices:
            number = self._store.number + 1
            self._store.commit(Commit(number, events=[*over, *fired], notices=notices))
        for name, why in list(lost.items())[:NAMED]:
            log.error("vehicle %r begins anew, its stored state cannot be used: %s", name, why)
        if len(lost) > NAMED:
            log.error("so do %d more vehicles", len(lost) - NAMED)
