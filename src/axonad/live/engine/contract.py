"""The contract between an engine and everything around it: sources, page, REST, metrics, sinks.

All methods may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from axonad.live.record import (
    Action,
    Course,
    EventQuery,
    EventRecord,
    Micros,
    VehicleStatus,
)
from axonad.live.sample import Delivery


@dataclass(frozen=True)
class Part:
    """How a source or a sink is. ``error`` is a sentence for people while something is wrong."""

    name: str
    error: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)  # messages, bad, told, failed, ...


@dataclass(frozen=True)
class Health:
    """How the engine is. ``trouble`` is a sentence for people while something is wrong."""

    is_ready: bool
    trouble: str = ""
    waiting: int = 0  # samples in the queue
    queue: int = 0  # samples that fit into it
    lag: float = 0.0  # seconds for which the oldest delivery has waited
    commits: int = 0
    commit_seconds: float = 0.0  # that the last commit took
    store_bytes: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Totals since the start: samples, rows, scored, late, duplicate, future, shed, ..."""
    latency: Mapping[str, float] = field(default_factory=dict)
    """Seconds from arrival to commit over the last deliveries: p50, p99."""
    parts: tuple[Part, ...] = ()

    @property
    def told(self) -> str:
        """Everything that is wrong, with the engine and with its parts, for people."""
        errors = [f"{part.name}: {part.error}" for part in self.parts if part.error]
        return "; ".join([self.trouble, *errors] if self.trouble else errors)


@dataclass(frozen=True)
class Model:
    """What the page shows of the model."""

    name: str  # of the detector
    fingerprint: str
    channels: tuple[str, ...]
    interval: float | None  # seconds between rows
    threshold: float
    units: Mapping[str, str] = field(default_factory=dict)


class Engine(Protocol):
    """Scores the deliveries of sources and answers questions about vehicles and events."""

    model: Model

    def attach(self, look: Callable[[], Part]) -> None:
        """Tell the state of a source or sink with that of the engine."""

    def start(self) -> None:
        """Resume from the store and begin to score."""

    def stop(self) -> None:
        """Score and store what waits, then end."""

    def submit(self, delivery: Delivery, *, timeout: float = 0.0) -> None:
        """Queue a delivery; its ``done`` is called once it is stored.

        Raise :class:`~axonad.live.inbox.OverloadError` if there is no room within ``timeout``
        seconds and the rule is to hold.
        """

    def position(self, source: str) -> int | None:
        """Return the last stored position in a source."""

    def health(self) -> Health:
        """Return how the engine is."""

    def vehicles(self) -> list[VehicleStatus]:
        """Return the status of all vehicles, by name."""

    def vehicle(self, name: str) -> VehicleStatus | None:
        """Return the status of one vehicle."""

    def recent(self, vehicle: str, *, rows: int) -> Course | None:
        """Return the newest rows of a vehicle in memory."""

    def course(self, vehicle: str, start: Micros, end: Micros, *, rows: int) -> Course | None:
        """Return the stored and the newest rows in ``[start, end)``, at most the first ``rows``."""

    def events(self, query: EventQuery) -> list[EventRecord]:
        """Return events that match, newest first."""

    def event(self, id: str) -> EventRecord | None:
        """Return one event."""

    def act(self, id: str, action: Action) -> EventRecord | None:
        """Store a person's action on an event; return the event, None if it is not known."""
