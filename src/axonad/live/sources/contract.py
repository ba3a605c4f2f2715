"""The contract of a source, and what the page and the metrics show of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from axonad.live.engine.contract import Engine


@dataclass(frozen=True)
class SourceStatus:
    """How a source is. ``error`` is a sentence for people while something is wrong."""

    name: str
    is_connected: bool
    messages: int = 0  # read since the start, the bad ones among them
    bad: int = 0  # that could not be understood
    waiting: int = 0  # samples read that the engine has not stored yet
    error: str = ""


class Source(Protocol):
    """Hands samples to an engine from ``start`` to ``stop``; all methods return soon."""

    name: str

    def start(self, engine: Engine) -> None:
        """Begin to read, in a thread of its own; a broker that is not there is waited for."""

    def stop(self) -> None:
        """Stop reading, acknowledge what the engine stores within a few seconds, disconnect."""

    def status(self) -> SourceStatus:
        """Return how the source is."""
