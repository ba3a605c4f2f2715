"""The contract of a store, and what is committed to it.

A commit is one transaction: all of it is stored, or nothing. After a crash the state of a vehicle
is that of its last snapshot, plus the samples accepted since, which are replayed. A store answers
readers from other threads while a commit runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from axonad.errors import AxonADError
from axonad.live.record import Action, Course, EventQuery, EventRecord, Micros, Notice


class StoreError(AxonADError):
    """The store cannot be used, and waiting does not help: damaged, of a newer version, ..."""


class StoreUnavailableError(StoreError):
    """The store cannot be used at the moment: locked, full, or its server is gone."""


@dataclass(frozen=True)
class Tail:
    """Samples of a vehicle accepted since its snapshot, packed by :mod:`axonad.live.packing`."""

    vehicle: str
    samples: bytes


@dataclass(frozen=True)
class Snapshot:
    """The whole state of a vehicle; it replaces the one before and all its tails.

    ``course`` has the rows since the snapshot before; it is kept for people to look at.
    """

    vehicle: str
    state: bytes
    last_time: Micros
    course: Course | None = None


@dataclass(frozen=True)
class Commit:
    """Everything that changes at once. ``number`` grows by one with every commit.

    A commit whose number is already stored was stored by an attempt whose answer got lost; it is
    then skipped.
    """

    number: int
    tails: Sequence[Tail] = ()
    snapshots: Sequence[Snapshot] = ()
    events: Sequence[EventRecord] = ()  # inserted, or replaced but for actions and sentence
    notices: Sequence[Notice] = ()  # those with a known id are skipped
    positions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Saved:
    """What is stored of a vehicle's state: its snapshot, None without, and the tails since."""

    state: bytes | None
    tails: tuple[bytes, ...]
    last_time: Micros


class Store(Protocol):
    """A store; its methods raise :class:`StoreUnavailableError` where waiting may help."""

    def start(self, *, model: str) -> int:
        """Open or create it for a model's fingerprint; return the number of the last commit.

        Raise :class:`StoreError` if it holds the states of another model.
        """

    def replace_model(self, model: str) -> None:
        """Forget the states and courses of all vehicles and belong to another model; events stay.

        Courses go because their scores, and perhaps their channels, are those of the old model.
        Nothing happens if it belongs to the model already, so that a restart may ask for it again.
        """

    def commit(self, commit: Commit) -> None:
        """Store all of a commit, or nothing."""

    def close(self) -> None:
        """Give up connections and files."""

    def saved(self, vehicle: str) -> Saved | None:
        """Return the state of a vehicle; None if it is not known."""

    def vehicles(self, *, since: Micros = 0) -> dict[str, Micros]:
        """Return known vehicles that sent since a time, and the time of their last snapshot."""

    def position(self, source: str) -> int | None:
        """Return the last committed position in a source."""

    def events(self, query: EventQuery) -> list[EventRecord]:
        """Return events that match, newest first by their begin, then by id."""

    def event(self, id: str) -> EventRecord | None:
        """Return one event."""

    def act(self, id: str, action: Action) -> EventRecord | None:
        """Store a person's action; return the event as it is then, None if it is not known."""

    def put_sentence(self, id: str, sentence: str) -> None:
        """Store the sentence of an event, if the event is known."""

    def course(self, vehicle: str, start: Micros, end: Micros, *, rows: int) -> Course | None:
        """Return the rows of snapshots in ``[start, end)``, at most the first ``rows``."""

    def notices(self, sink: str, *, limit: int) -> list[tuple[int, Notice]]:
        """Return notices that a sink has not confirmed, oldest first, with their numbers."""

    def confirm(self, sink: str, numbers: Sequence[int]) -> None:
        """Mark notices as told by a sink; numbers already confirmed are skipped."""

    def prune(self, *, now: Micros, keep: Micros, keep_events: Micros, max_size: int) -> int:
        """Delete what is older than its age, and the oldest courses beyond the size.

        Return the number of records deleted. Firing events and states with tails stay.
        """

    def size(self) -> int:
        """Return the number of bytes that the store takes on disk."""
