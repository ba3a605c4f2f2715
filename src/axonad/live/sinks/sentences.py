"""The sentence that tells an event, made once when it has fired and again when it is final.

An explanation can take a second. So it is made outside the engine, in the threads of the sinks,
from the rows that memory and store have, and kept in the store, where commits leave it as it is.
"""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from time import monotonic, sleep

from axonad.errors import AxonADError
from axonad.live.record import EventRecord, Notice
from axonad.live.store.contract import Store, StoreError

log = logging.getLogger("axonad.live")

KEPT = 1_000  # events that are not asked for twice
PAUSE = 1.0  # seconds between two explanations at most


class Sentences:
    """Makes sentences for other sinks when they need them, and as a sink itself for REST.

    ``make`` returns the sentence of an event, empty without one.
    """

    name = "sentences"
    at_once = 1
    every = 0.0
    give_up = math.inf

    def __init__(self, store: Store, make: Callable[[EventRecord], str]) -> None:
        self._store, self._make = store, make
        self._lock = Lock()
        self._made: OrderedDict[tuple[str, bool], str] = OrderedDict()

    def of(self, event: EventRecord) -> str:
        """Return the sentence of an event as the store has it now; empty if there is none."""
        newest = self._store.event(event.id) or event
        key = (newest.id, newest.final)
        with self._lock:
            if key not in self._made:
                sentence = self._try(newest)
                if sentence:
                    self._store.put_sentence(newest.id, sentence)
                self._made[key] = sentence or newest.sentence
                while len(self._made) > KEPT:
                    self._made.popitem(last=False)
            return self._made[key]

    def kept(self, event: EventRecord) -> str:
        """Return the sentence that the store has, without making one."""
        newest = self._store.event(event.id)
        return "" if newest is None else newest.sentence

    def tell(self, notices: Sequence[Notice]) -> None:
        """Make the sentences that no other sink has asked for; rest as long as it took."""
        for notice in notices:
            began = monotonic()
            self.of(notice.event)
            sleep(min(monotonic() - began, PAUSE))  # many at once leave the CPU to the engine

    def remind(self, firing: Sequence[EventRecord]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def _try(self, event: EventRecord) -> str:
        try:
            return self._make(event)
        except StoreError:
            raise  # it is tried again
        except AxonADError:  # such as rows that are no longer stored
            return ""
        except Exception:
            log.exception("event %s is told without an explanation", event.id)
            return ""
