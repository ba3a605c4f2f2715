"""The engine in one process: a thread that scores deliveries and stores the results.

Each round takes what waits, scores it, stores everything in one commit and only then hands out the
receipts. While the store cannot be used the round waits with its commit; the queue fills, and then
sources are held or samples are shed, as configured.
"""

from __future__ import annotations

import logging
import math
from collections import Counter, deque
from collections.abc import Callable
from threading import Event, Lock, Thread
from time import monotonic

from axonad.detector import Detector
from axonad.live.clock import ServerClock
from axonad.live.config import LiveConfig
from axonad.live.duration import to_seconds
from axonad.live.engine.contract import Health, Model, Part
from axonad.live.engine.putting import PatientStore, prune
from axonad.live.engine.status import describe_model, statuses
from axonad.live.inbox import Inbox, OverloadError
from axonad.live.record import Action, Course, EventQuery, EventRecord, Micros, VehicleStatus
from axonad.live.sample import Delivery, Receipt
from axonad.live.store.contract import Commit, Store, StoreError
from axonad.live.store.memory import join_courses
from axonad.live.watch import RECENT, Watch

log = logging.getLogger("axonad.live")

TIMED = 2_000  # deliveries over which latencies are taken
HOUSEKEEPING = 60.0  # seconds


class LocalEngine:
    """Scores vehicles in this process.

    Parameters
    ----------
    detector
        A fitted, causal detector with an alarm policy.
    store
        Where states and events are kept.
    config
        The configuration; the tables ``[input]`` and ``[store]`` are used.
    part
        Which part of the fleet it scores, such as ``0/4``; empty for all of it.
    """

    def __init__(
        self,
        detector: Detector,
        store: Store,
        config: LiveConfig,
        *,
        clock: ServerClock | None = None,
        part: str = "",
    ) -> None:
        self.model: Model = describe_model(detector)
        self.owner = f"{self.model.fingerprint} part {part}" if part else self.model.fingerprint
        """Whose states the store holds."""
        self._detector, self._config = detector, config
        self._clock = clock or ServerClock()
        self._store = store
        self._parts: list[Callable[[], Part]] = []
        self._watch = self._new_watch()
        self._inbox = Inbox(config.input.queue)
        self._pause = to_seconds("commit_every of [input]", config.input.commit_every)
        self._expire = to_seconds("expire of [input]", config.input.expire)
        self._silent = to_seconds("silent_after of [input]", config.input.silent_after)
        self._thread = Thread(target=self._run, name="axonad-engine", daemon=True)
        self._stopping = Event()
        self._lock = Lock()  # of what readers see
        self._known: dict[str, Micros] = {}  # all vehicles of the store, by last time
        self._put = PatientStore(store)
        self._failure = ""
        self._is_ready = False
        self._latencies: deque[float] = deque(maxlen=TIMED)
        self._counts: Counter[str] = Counter()
        self._store_bytes = 0
        self._cleaned = -math.inf

    def attach(self, look: Callable[[], Part]) -> None:
        """Tell the state of a source or sink with that of the engine."""
        self._parts.append(look)

    def start(self) -> None:
        """Resume from the store and begin to score."""
        self._put.start(model=self.owner)
        self._resume()
        self._is_ready = True
        self._thread.start()

    def stop(self) -> None:
        """Score and store what waits, then end."""
        self._inbox.close()
        self._put.give_up()
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._is_ready = False
        self._store.close()

    def submit(self, delivery: Delivery, *, timeout: float = 0.0) -> None:
        """Queue a delivery; raise OverloadError if there is no room and the rule is to hold."""
        try:
            self._inbox.put(delivery, timeout=timeout)
        except OverloadError:
            if self._config.input.overload == "hold" or self._stopping.is_set():
                raise
            with self._lock:
                self._counts["shed"] += len(delivery.samples)
            delivery.done(Receipt(0, {"shed": len(delivery.samples)}))

    def position(self, source: str) -> int | None:
        """Return the last stored position in a source."""
        return self._store.position(source)

    def health(self) -> Health:
        """Return how the engine is."""
        latencies = sorted(self._latencies.copy())
        trouble = self._failure or self._put.trouble
        with self._lock:
            counts = dict(self._counts + self._watch.counts)
        return Health(
            is_ready=self._is_ready and not trouble,
            trouble=trouble,
            waiting=len(self._inbox),
            queue=self._inbox.limit,
            lag=self._inbox.lag,
            commits=self._put.number,
            commit_seconds=self._put.seconds,
            store_bytes=self._store_bytes,
            counts=counts,
            parts=tuple(look() for look in self._parts),
            latency={
                f"p{share}": latencies[len(latencies) * share // 100]
                for share in (50, 99)
                if latencies
            },
        )

    def vehicles(self) -> list[VehicleStatus]:
        """Return the status of all vehicles, by name."""
        with self._lock:
            now = self._clock.monotonic()
            return statuses(self._watch.vehicles, self._known, now=now, silent=self._silent)

    def vehicle(self, name: str) -> VehicleStatus | None:
        """Return the status of one vehicle."""
        with self._lock:
            memory = self._watch.vehicles
            vehicles = {name: memory[name]} if name in memory else {}
            known = {name: self._known[name]} if name in self._known else {}
            now = self._clock.monotonic()
            found = statuses(vehicles, known, now=now, silent=self._silent)
        return found[0] if found else None

    def recent(self, vehicle: str, *, rows: int) -> Course | None:
        """Return the newest rows of a vehicle in memory."""
        with self._lock:
            known = self._watch.vehicles.get(vehicle)
            return None if known is None else known.recent.course(rows)

    def course(self, vehicle: str, start: Micros, end: Micros, *, rows: int) -> Course | None:
        """Return the stored and the newest rows in ``[start, end)``, at most the first ``rows``."""
        newest = self.recent(vehicle, rows=RECENT)
        split = end if newest is None else min(end, int(newest.times[0]))
        stored = self._store.course(vehicle, start, split, rows=rows) if start < split else None
        parts = [part for part in (stored, newest) if part is not None]
        return join_courses(parts, start, end, rows=rows)

    def events(self, query: EventQuery) -> list[EventRecord]:
        """Return events that match, newest first."""
        return self._store.events(query)

    def event(self, id: str) -> EventRecord | None:
        """Return one event."""
        return self._store.event(id)

    def act(self, id: str, action: Action) -> EventRecord | None:
        """Store a person's action on an event; return the event, None if it is not known."""
        return self._store.act(id, action)

    def _run(self) -> None:
        try:
            while not (self._stopping.is_set() and not len(self._inbox)):
                began = monotonic()
                taken = self._inbox.take(self._config.input.batch, timeout=0.5)
                if taken:
                    self._round([delivery for _, delivery in taken])
                    now = monotonic()
                    self._latencies.extend(now - arrived for arrived, _ in taken)
                self._keep_house()
                self._stopping.wait(max(0.0, began + self._pause - monotonic()))
            self._put_away(list(self._watch.vehicles))
        except StoreError as error:
            self._fail(f"the store cannot be used: {error}")
        except Exception as error:
            log.exception("the engine has ended")
            self._fail(f"the engine has ended: {type(error).__name__}: {error}")

    def _round(self, deliveries: list[Delivery]) -> None:
        """Score deliveries, store the results, hand out the receipts."""
        try:
            self._bring_back(deliveries)
            with self._lock:
                work = self._watch.take(deliveries)
                commit = self._watch.commit(work, number=self._put.number + 1)
        except StoreError:
            raise
        except Exception:
            log.exception("a round failed; going on from the stored states")
            self._start_again()
            if len(deliveries) > 1:
                for delivery in deliveries:
                    self._round([delivery])
            else:
                self._counts["failed"] += len(deliveries[0].samples)
                deliveries[0].done(Receipt(0, {"failed": len(deliveries[0].samples)}))
            return
        try:
            self._put.commit(commit)
        except StoreError as error:
            failure = Receipt(error=f"it could not be stored: {error}")
            self._hand_out([(delivery, failure) for delivery in deliveries])
            raise
        self._hand_out(work.receipts)

    def _hand_out(self, receipts: list[tuple[Delivery, Receipt]]) -> None:
        for delivery, receipt in receipts:
            try:
                delivery.done(receipt)
            except Exception:
                log.exception("the receipt of a delivery of %s was not taken", delivery.source)

    def _bring_back(self, deliveries: list[Delivery]) -> None:
        """Resume vehicles of deliveries that are stored but not in memory."""
        names = {sample.vehicle for delivery in deliveries for sample in delivery.samples}
        missing = [n for n in names if n in self._known and n not in self._watch.vehicles]
        self._resume_some(sorted(missing))

    def _resume(self) -> None:
        """Resume the vehicles that were in memory; those long silent come back when they send."""
        self._known = self._store.vehicles()
        since = round((self._clock.now() - self._expire) * 1e6)
        self._resume_some(sorted(self._store.vehicles(since=since)))

    def _resume_some(self, names: list[str]) -> None:
        found = {name: saved for name in names if (saved := self._store.saved(name)) is not None}
        if found:
            with self._lock:
                self._watch.resume(found)

    def _start_again(self) -> None:
        """Drop what is in memory, which a failed round left half changed, and resume."""
        counts = self._watch.counts
        with self._lock:
            self._watch = self._new_watch()
            self._watch.counts = counts
        self._resume()

    def _new_watch(self) -> Watch:
        config = self._config
        rows = config.store.snapshot_rows
        return Watch(self._detector, config.input, snapshot_rows=rows, clock=self._clock)

    def _keep_house(self) -> None:
        """Now and then: put silent vehicles away and delete what is old."""
        if monotonic() - self._cleaned < HOUSEKEEPING:
            return
        self._cleaned = monotonic()
        self._put_away([vehicle.name for vehicle in self._watch.silent(self._expire)])
        newest = [vehicle.raster.newest for vehicle in self._watch.vehicles.values()]
        now = max([*newest, *self._known.values()], default=0)  # old data is not old at once
        limits, now = self._config.store, min(now, round(self._clock.now() * 1e6))
        self._store_bytes = prune(self._store, limits, now=now) or self._store_bytes

    def _put_away(self, names: list[str]) -> None:
        """Store the whole state of vehicles and remove them from memory."""
        if not names:
            return
        with self._lock:
            snapshots = [self._watch.snapshot(self._watch.vehicles[name]) for name in names]
        self._put.commit(Commit(self._put.number + 1, snapshots=snapshots))
        with self._lock:
            for snapshot in snapshots:
                self._known[snapshot.vehicle] = snapshot.last_time
                self._watch.remove(snapshot.vehicle)

    def _fail(self, sentence: str) -> None:
        self._failure = sentence
        log.error("%s", sentence)
        self._inbox.close()
        for _, delivery in self._inbox.take(2**62, timeout=0.0):
            delivery.done(Receipt(error=sentence))
