"""The contract of a sink: something outside that is told of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from axonad.errors import AxonADError
from axonad.live.record import EventRecord, Notice


class SinkError(AxonADError):
    """A sink cannot be reached or refuses; what it was to be told is told again later."""


@dataclass(frozen=True)
class SinkStatus:
    """How a sink is."""

    name: str
    told: int = 0
    failed: int = 0  # tries that failed
    given_up: int = 0  # notices too old to be told
    error: str = ""  # of the last try; empty if it went well


class Sink(Protocol):
    """Tells notices to something outside; each notice at least once, in order.

    ``every`` is the number of seconds after which ``remind`` is called with all events that fire
    and are not shelved; 0 if the sink needs no reminders.
    """

    name: str
    at_once: int  # notices told, and then confirmed, together
    every: float
    give_up: float  # seconds after which a notice is no longer tried

    def tell(self, notices: Sequence[Notice]) -> None:
        """Tell notices; raise :class:`SinkError` if any of them has to be told again."""

    def remind(self, firing: Sequence[EventRecord]) -> None:
        """Tell which events are firing."""

    def close(self) -> None:
        """Give up connections."""
