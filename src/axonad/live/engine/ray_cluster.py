"""The engine on a Ray cluster: vehicles are hashed onto actors, each with its own store.

This process keeps the sources and the page. It sends each actor the samples of its vehicles, one
batch at a time, and acknowledges a delivery when all its parts are stored. An actor that dies is
started again by Ray, on another machine if need be; what it had not answered is sent again, and
samples that it had stored are then refused as duplicates. While an actor is away, the vehicles of
the others go on; questions are answered for those, and the health says what is missing.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Condition
from time import monotonic
from typing import Any

from axonad.errors import AxonADError
from axonad.live.config import LiveConfig
from axonad.live.engine.cluster import Cluster
from axonad.live.engine.contract import Health, Mark, Model, Part, UnavailableError
from axonad.live.engine.partition import part_of
from axonad.live.engine.parts import Split
from axonad.live.engine.sending import ANSWER, Lane
from axonad.live.engine.status import percentiles
from axonad.live.inbox import OverloadError
from axonad.live.record import Action, Course, EventQuery, EventRecord, Micros, VehicleStatus
from axonad.live.sample import Delivery, Receipt, Sample

log = logging.getLogger("axonad.live")

STOPPING = (20.0, 40.0)  # seconds for the samples that wait, then for the last commits


class RayEngine:
    """Scores vehicles on the actors of a Ray cluster.

    Parameters
    ----------
    model
        What the page shows of the detector.
    files
        The files of its folder, by name; every actor loads it from them.
    config
        The configuration; ``[engine]`` says how many actors, and where.
    new_model
        Forget the states of another model, or of another number of actors, that stores hold.
    """

    def __init__(
        self,
        model: Model,
        files: Mapping[str, bytes],
        config: LiveConfig,
        *,
        new_model: bool = False,
    ) -> None:
        self.model = model
        self._files, self._config, self._new_model = dict(files), config, new_model
        self._cluster: Cluster | None = None
        self._lanes: list[Lane] = []
        self._room = Condition()  # notified when a queue has room again
        self._shed = 0
        self._seen: dict[int, list[VehicleStatus]] = {}  # by part, the newest statuses
        self._parts: list[Callable[[], Part]] = []

    def attach(self, look: Callable[[], Part]) -> None:
        """Tell the state of a source or sink with that of the engine."""
        self._parts.append(look)

    def start(self) -> None:
        """Start the actors; each resumes from its store."""
        self._cluster = cluster = Cluster(self._config)
        try:
            actors = cluster.start_actors(self._files, new_model=self._new_model)
        except BaseException:
            cluster.close()
            raise
        limit = max(1, self._config.input.queue // len(actors))
        self._lanes = [
            Lane(
                cluster.ray, actor, limit=limit, batch=self._config.input.batch,
                name=f"axonad-part-{number}", taken=self._tell_room,
            )
            for number, actor in enumerate(actors)
        ]  # fmt: skip
        for lane in self._lanes:
            lane.start()

    def stop(self) -> None:
        """Let the actors store everything, then end them."""
        if self._cluster is None:
            return
        until = monotonic() + STOPPING[0]
        with self._room:  # no delivery is cut in two by it
            for lane in self._lanes:
                lane.inbox.close()
        for lane in self._lanes:
            lane.stop(timeout=max(0.0, until - monotonic()))
        until = monotonic() + STOPPING[1]
        for lane, asked in [(lane, lane.actor.stop.remote()) for lane in self._lanes]:
            try:
                lane.answer(asked, timeout=max(0.0, until - monotonic()))
            except AxonADError as error:
                log.warning("%s; what it had not stored is sent again", error)
        self._cluster.end_actors([lane.actor for lane in self._lanes])
        for lane in self._lanes:
            lane.stop(timeout=STOPPING[0])  # those that waited for an actor that is gone now
        self._cluster.close()
        self._lanes, self._cluster = [], None

    def submit(self, delivery: Delivery, *, timeout: float = 0.0) -> None:
        """Queue a delivery, cut by vehicle: all of it, or nothing if there is no room in time."""
        parts: dict[int, list[Sample]] = {}
        for sample in delivery.samples:
            parts.setdefault(part_of(sample.vehicle, len(self._lanes)), []).append(sample)
        if not parts:
            delivery.done(Receipt())
            return
        until = monotonic() + timeout
        with self._room:
            while not all(self._lanes[n].inbox.has_room(len(some)) for n, some in parts.items()):
                if (left := until - monotonic()) <= 0:
                    break
                self._room.wait(left)
            else:
                split = Split(delivery, len(parts))
                for number, some in parts.items():
                    self._lanes[number].inbox.put(Delivery(some, delivery.source, split.done))
                return
            if self._config.input.overload == "hold":
                raise OverloadError("samples are waiting for an actor; try again later")
            self._shed += len(delivery.samples)
        delivery.done(Receipt(0, {"shed": len(delivery.samples)}))

    def position(self, source: str) -> int | None:
        """Return None: parts are stored apart, so what was not acknowledged is read again."""
        return None

    def health(self) -> Health:
        """Return how the actors are, together."""
        answers, missing = self._ask_all("health")
        found: list[Health] = list(answers.values())
        troubles = [health.trouble for health in found if health.trouble]
        troubles += [lane.trouble for lane in self._lanes if lane.trouble]
        if missing:
            away = f"{len(missing)} of {len(self._lanes)} parts of the fleet are away"
            troubles.insert(0, f"{away}, their samples wait: {missing[0]}")
        counts: Counter[str] = Counter({"shed": self._shed} if self._shed else {})
        for health in found:
            counts.update(health.counts)
        return Health(
            is_ready=bool(self._lanes) and not troubles,
            trouble="; ".join(dict.fromkeys(troubles)),
            waiting=sum(len(lane.inbox) for lane in self._lanes) + sum(h.waiting for h in found),
            queue=sum(lane.inbox.limit for lane in self._lanes),
            lag=max([lane.lag for lane in self._lanes], default=0.0),
            commits=sum(health.commits for health in found),
            commit_seconds=max((health.commit_seconds for health in found), default=0.0),
            store_bytes=sum(health.store_bytes for health in found),
            counts=dict(counts),
            parts=(*(look() for look in self._parts), *(p for h in found for p in h.parts)),
            latency=percentiles([s for lane in self._lanes for s in lane.latencies.copy()]),
        )

    def vehicles(self) -> list[VehicleStatus]:
        """Return the status of all vehicles, by name; the last known one without data, if away."""
        answers, _ = self._ask_all("vehicles")
        seen = {
            number: [replace(status, state="no data") for status in statuses]
            for number, statuses in self._seen.items()
        }
        self._seen |= answers
        found = [status for part in (seen | answers).values() for status in part]
        return sorted(found, key=lambda status: status.vehicle)

    def vehicle(self, name: str) -> VehicleStatus | None:
        """Return the status of one vehicle."""
        found: VehicleStatus | None = self._ask_one(name, "vehicle", name)
        return found

    def recent(self, vehicle: str, *, rows: int) -> Course | None:
        """Return the newest rows of a vehicle in memory."""
        found: Course | None = self._ask_one(vehicle, "recent", vehicle, rows=rows)
        return found

    def course(self, vehicle: str, start: Micros, end: Micros, *, rows: int) -> Course | None:
        """Return the stored and the newest rows in ``[start, end)``, at most the first ``rows``."""
        found: Course | None = self._ask_one(vehicle, "course", vehicle, start, end, rows=rows)
        return found

    def events(self, query: EventQuery) -> list[EventRecord]:
        """Return events that match, newest first."""
        answers, _ = self._ask_all("events", query)
        return _newest_first(answers)[: max(query.limit, 0)]

    def changes(self, after: Mark | None, *, limit: int) -> tuple[list[EventRecord], Mark]:
        """Return events that changed after a mark, which has a number for each actor."""
        marks = list(after or [-1] * len(self._lanes))  # -1 where an actor has not answered yet
        asked = [
            lane.ask("changes", None if number < 0 else (number,), limit=limit)
            for lane, number in zip(self._lanes, marks, strict=True)
        ]
        answers, _ = self._answers(asked)
        for part, (_, number) in answers.items():
            marks[part] = number[0]
        found = _newest_first({part: events for part, (events, _) in answers.items()})
        return found[:limit], tuple(marks)

    def event(self, id: str) -> EventRecord | None:
        """Return one event."""
        return self._find("event", id)

    def act(self, id: str, action: Action) -> EventRecord | None:
        """Store a person's action on an event; return the event, None if it is not known."""
        return self._find("act", id, action)

    def _find(self, method: str, *args: Any) -> EventRecord | None:
        """Return what the one actor answers that knows an event; which one, its id does not say."""
        answers, missing = self._ask_all(method, *args)
        found = [event for event in answers.values() if event is not None]
        if not found and missing:
            raise UnavailableError(f"the event may be in a part that is away: {missing[0]}")
        return found[0] if found else None

    def _ask_one(self, vehicle: str, method: str, *args: Any, **options: Any) -> Any:
        lane = self._lanes[part_of(vehicle, len(self._lanes))]
        return lane.answer(lane.ask(method, *args, **options))

    def _ask_all(self, method: str, *args: Any) -> tuple[dict[int, Any], list[str]]:
        return self._answers([lane.ask(method, *args) for lane in self._lanes])

    def _answers(self, asked: Sequence[Any]) -> tuple[dict[int, Any], list[str]]:
        """Return the answers by part, and why others do not answer."""
        until = monotonic() + ANSWER
        found, missing = {}, []
        for number, (lane, promise) in enumerate(zip(self._lanes, asked, strict=True)):
            try:
                found[number] = lane.answer(promise, timeout=max(0.0, until - monotonic()))
            except AxonADError as error:
                missing.append(str(error))
        return found, missing

    def _tell_room(self) -> None:
        with self._room:
            self._room.notify_all()


def _newest_first(parts: Mapping[int, Sequence[EventRecord]]) -> list[EventRecord]:
    found = [event for part in parts.values() for event in part]
    return sorted(found, key=lambda event: (event.begins, event.id), reverse=True)
