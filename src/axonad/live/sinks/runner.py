"""Tells sinks what is new in a store, each in a thread of its own, until each has confirmed.

What a sink has confirmed is stored, so that a restart tells nothing twice; only if the process dies
between telling and storing the confirmation is a notice told again, with the same id.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from math import inf
from threading import Event, Thread
from time import monotonic, time

from axonad.live.record import EventQuery, Notice
from axonad.live.sinks.contract import Sink, SinkError, SinkStatus
from axonad.live.sinks.sentences import Sentences
from axonad.live.store.contract import Store, StoreError

log = logging.getLogger("axonad.live")

PAUSES = (0.5, 60.0)  # seconds between two tries: the first pause, the longest
REMINDED = 10_000  # firing events told at most
PATIENCE = 5.0  # seconds for which notices that wait are told with new sentences


class SinkRunner:
    """Runs one sink.

    Notices carry the sentence of their event. When many wait, only those of the first seconds get
    one that has yet to be made, so that none is told late for it.
    """

    def __init__(
        self, sink: Sink, store: Store, *, sentences: Sentences | None = None, poll: float = 0.5
    ) -> None:
        self.status = SinkStatus(sink.name)
        self._sink, self._store, self._poll = sink, store, poll
        self._sentences, self._patient_until = sentences, inf
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=f"axonad-{sink.name}", daemon=True)

    def start(self) -> None:
        """Begin to tell."""
        self._thread.start()

    def stop(self) -> None:
        """Tell no more; what is left is told after the next start."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10.0)
        self._sink.close()

    def round(self) -> bool:
        """Tell what is new; return whether more waits."""
        found = self._store.notices(self._sink.name, limit=self._sink.at_once)
        if not found:
            return False
        fresh = found
        if self.status.error:  # the sink does not take them; else even old ones are told
            limit = (time() - self._sink.give_up) * 1e6
            fresh = [(number, notice) for number, notice in found if notice.event.ends >= limit]
        if fresh:
            self._sink.tell([self._with_sentence(notice) for _, notice in fresh])
        self._store.confirm(self._sink.name, [number for number, _ in found])
        old = len(found) - len(fresh)
        told, given_up = self.status.told + len(fresh), self.status.given_up + old
        self.status = replace(self.status, told=told, given_up=given_up, error="")
        return len(found) == self._sink.at_once

    def _with_sentence(self, notice: Notice) -> Notice:
        if self._sentences is None:
            return notice
        is_patient = monotonic() < self._patient_until
        find = self._sentences.of if is_patient else self._sentences.kept
        return replace(notice, event=replace(notice.event, sentence=find(notice.event)))

    def _run(self) -> None:
        pause, reminded = PAUSES[0], -1e18
        while not self._stopping.is_set():
            try:
                self._patient_until = monotonic() + PATIENCE
                while not self._stopping.is_set() and self.round():
                    pass
                if self._sink.every and monotonic() - reminded >= self._sink.every:
                    query = EventQuery(status="firing", shelved=False, limit=REMINDED)
                    self._sink.remind(self._store.events(query))
                    reminded = monotonic()
                pause = PAUSES[0]
                self._stopping.wait(self._poll)
            except (SinkError, StoreError) as error:
                if str(error) != self.status.error:
                    log.warning("%s: %s", self._sink.name, error)
                self.status = replace(self.status, failed=self.status.failed + 1, error=str(error))
                self._stopping.wait(pause)
                pause = min(2 * pause, PAUSES[1])
            except Exception as error:
                log.exception("%s failed", self._sink.name)
                self.status = replace(
                    self.status, failed=self.status.failed + 1, error=type(error).__name__
                )
                self._stopping.wait(PAUSES[1])
