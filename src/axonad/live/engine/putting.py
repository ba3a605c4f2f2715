"""Commits and reads that wait for a store that cannot be used, and the deletion of old data."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event
from time import monotonic, strftime
from typing import TypeVar

from axonad.live.config import Storing
from axonad.live.record import EventQuery, EventRecord, Micros
from axonad.live.store.contract import Commit, Saved, Store, StoreUnavailableError

log = logging.getLogger("axonad.live")

DAY = 86_400_000_000  # microseconds
PAUSES = (0.05, 5.0)  # seconds between two tries: the first pause, the longest

Answer = TypeVar("Answer")


class PatientStore:
    """Stores commits one after another; ``trouble`` says since when that is not possible."""

    def __init__(self, store: Store) -> None:
        self.number = 0
        self.trouble = ""
        self.seconds = 0.0  # that the last commit took
        self._store = store
        self._stopped = Event()

    def start(self, *, model: str) -> None:
        """Open the store for a model."""
        self.number = self._store.start(model=model)

    def give_up(self) -> None:
        """Let what waits raise its error instead, because the server stops."""
        self._stopped.set()

    def commit(self, commit: Commit) -> None:
        """Store a commit; while that is not possible, try again and say so."""

        def store() -> float:
            began = monotonic()
            self._store.commit(commit)
            return monotonic() - began

        self.seconds = self._wait(store)
        self.number = commit.number

    def saved(self, vehicle: str) -> Saved | None:
        """Return the state of a vehicle, as soon as the store can be read."""
        return self._wait(lambda: self._store.saved(vehicle))

    def vehicles(self, *, since: Micros = 0) -> dict[str, Micros]:
        """Return known vehicles that sent since a time, as soon as the store can be read."""
        return self._wait(lambda: self._store.vehicles(since=since))

    def events(self, query: EventQuery) -> list[EventRecord]:
        """Return events that match, as soon as the store can be read."""
        return self._wait(lambda: self._store.events(query))

    def _wait(self, call: Callable[[], Answer]) -> Answer:
        """Return what a call returns once the store can be used."""
        pause, longest = PAUSES
        while True:
            try:
                found = call()
            except StoreUnavailableError as error:
                if not self.trouble:
                    since = strftime("%H:%M:%S")
                    self.trouble = f"since {since} nothing can be stored, samples wait: {error}"
                    log.warning("%s", self.trouble)
                if self._stopped.wait(pause):
                    raise
                pause = min(2 * pause, longest)
                continue
            if self.trouble:
                log.warning("the store can be used again")
                self.trouble = ""
            return found


def prune(store: Store, limits: Storing, *, now: Micros) -> int:
    """Delete what is older than allowed; return the size of the store, 0 if it is not there."""
    try:
        store.prune(
            now=now, keep=round(limits.keep_days * DAY),
            keep_events=round(limits.keep_events_days * DAY), max_size=limits.max_size,
        )  # fmt: skip
        return store.size()
    except StoreUnavailableError as error:
        log.warning("nothing old is deleted: %s", error)
        return 0
