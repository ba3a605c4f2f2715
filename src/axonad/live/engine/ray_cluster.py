"""The engine on a Ray cluster: vehicles are hashed onto actors, each with its own store.

This process keeps the sources and the page. It sends each actor the samples of its vehicles, one
batch at a time, and acknowledges a delivery when all its parts are stored. An actor that dies is
started again by Ray, on another machine if need be; what it had not answered is sent again, and
samples that it had stored are then refused as duplicates.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from axonad.errors import ConfigError
from axonad.extras import need
from axonad.live.config import LiveConfig
from axonad.live.engine.contract import Health, Model, Part
from axonad.live.engine.partition import Partition, part_of
from axonad.live.engine.sending import ANSWER, Lane, Split
from axonad.live.inbox import OverloadError
from axonad.live.record import Action, Course, EventQuery, EventRecord, Micros, VehicleStatus
from axonad.live.sample import Delivery, Receipt, Sample

log = logging.getLogger("axonad.live")

THREADS = 8  # of an actor: one scores, the others answer questions


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
        self._lanes: list[Lane] = []
        self._parts: list[Callable[[], Part]] = []
        self._ray: Any = None
        self._started_here = False

    def attach(self, look: Callable[[], Part]) -> None:
        """Tell the state of a source or sink with that of the engine."""
        self._parts.append(look)

    def start(self) -> None:
        """Start the actors; each resumes from its store."""
        self._ray = ray = need("ray", what="the Ray engine needs")
        settings = self._config.engine
        if not ray.is_initialized():
            try:
                ray.init(
                    address=settings.address or None, log_to_driver=False, include_dashboard=False
                )
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise ConfigError(f"no Ray cluster at {settings.address!r}: {error}") from None
            self._started_here = True
        files = ray.put(self._files)
        remote = ray.remote(
            num_cpus=1, max_restarts=-1, max_task_retries=0, max_concurrency=THREADS
        )
        parts = settings.actors
        actors = [
            remote(Partition).remote(
                files, self._config, number=number, parts=parts, new_model=self._new_model
            )
            for number in range(parts)
        ]
        try:
            ray.get([actor.ready.remote() for actor in actors])
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error
            raise ConfigError(f"an actor cannot start: {cause}") from None
        limit = max(1, self._config.input.queue // parts)
        for number, actor in enumerate(actors):
            batch, name = self._config.input.batch, f"axonad-part-{number}"
            self._lanes.append(Lane(ray, actor, limit=limit, batch=batch, name=name))
            self._lanes[-1].start()

    def stop(self) -> None:
        """Let the actors store everything, then end them."""
        for lane in self._lanes:
            lane.stop()
        for lane in self._lanes:
            try:
                self._ray.get(lane.actor.stop.remote(), timeout=60.0)
            except self._ray.exceptions.RayError as error:
                log.warning("an actor did not stop in order: %s", type(error).__name__)
            self._ray.kill(lane.actor)
        self._lanes = []
        if self._started_here:
            self._ray.shutdown()

    def submit(self, delivery: Delivery, *, timeout: float = 0.0) -> None:
        """Queue a delivery, cut by vehicle; raise OverloadError if one of the queues is full."""
        parts: dict[int, list[Sample]] = {}
        for sample in delivery.samples:
            parts.setdefault(part_of(sample.vehicle, len(self._lanes)), []).append(sample)
        if not parts:
            delivery.done(Receipt())
            return
        if any(self._lanes[part].inbox.is_full for part in parts) and timeout <= 0:
            raise OverloadError("samples are waiting; try again later")
        split = Split(delivery, len(parts))
        for part, samples in parts.items():
            lane = self._lanes[part]
            try:
                lane.inbox.put(Delivery(samples, delivery.source, split.done), timeout=timeout)
            except OverloadError as error:
                if self._config.input.overload == "shed":
                    split.done(Receipt(0, {"shed": len(samples)}))
                else:
                    split.done(Receipt(error=str(error)))

    def position(self, source: str) -> int | None:
        """Return None: parts are stored apart, so what was not acknowledged is read again."""
        return None

    def health(self) -> Health:
        """Return how the actors are, together."""
        found = [health for health in self._ask_all("health") if health is not None]
        missing = len(self._lanes) - len(found)
        troubles = [health.trouble for health in found if health.trouble]
        troubles += [lane.trouble for lane in self._lanes if lane.trouble]
        if missing:
            troubles.insert(0, f"{missing} of {len(self._lanes)} actors do not answer")
        counts: Counter[str] = Counter()
        for health in found:
            counts.update(health.counts)
        return Health(
            is_ready=bool(self._lanes) and not troubles,
            trouble="; ".join(dict.fromkeys(troubles)),
            waiting=sum(len(lane.inbox) for lane in self._lanes) + sum(h.waiting for h in found),
            queue=sum(lane.inbox.limit for lane in self._lanes),
            lag=max([lane.inbox.lag for lane in self._lanes], default=0.0),
            commits=sum(health.commits for health in found),
            commit_seconds=max((health.commit_seconds for health in found), default=0.0),
            store_bytes=sum(health.store_bytes for health in found),
            counts=dict(counts),
            parts=tuple(look() for look in self._parts),
            latency={
                name: max((health.latency.get(name, 0.0) for health in found), default=0.0)
                for name in ("p50", "p99")
            },
        )

    def vehicles(self) -> list[VehicleStatus]:
        """Return the status of all vehicles, by name."""
        found = [status for part in self._ask_all("vehicles") for status in part or ()]
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
        """Return events that match, newest first; commit numbers of parts are not comparable."""
        query = replace(query, changed_after=None)
        found = [event for part in self._ask_all("events", query) for event in part or ()]
        found.sort(key=lambda event: (event.begins, event.id), reverse=True)
        return found[: query.limit]

    def event(self, id: str) -> EventRecord | None:
        """Return one event."""
        return next((event for event in self._ask_all("event", id) if event is not None), None)

    def act(self, id: str, action: Action) -> EventRecord | None:
        """Store a person's action on an event; return the event, None if it is not known."""
        return next((e for e in self._ask_all("act", id, action) if e is not None), None)

    def _ask_one(self, vehicle: str, method: str, *args: Any, **options: Any) -> Any:
        return self._lanes[part_of(vehicle, len(self._lanes))].ask(method, *args, **options)

    def _ask_all(self, method: str, *args: Any) -> list[Any]:
        """Return the answers of all actors; None where one does not answer."""
        asked = [lane.actor.ask.remote(method, args, {}) for lane in self._lanes]
        found = []
        for answer in asked:
            try:
                found.append(self._ray.get(answer, timeout=ANSWER))
            except self._ray.exceptions.RayError:
                found.append(None)
        return found
