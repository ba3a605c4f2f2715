"""Pauses between attempts to reach a broker or the engine."""

from __future__ import annotations


class Backoff:
    """Seconds to wait before the next attempt: doubled each time, up to a limit."""

    def __init__(self, first: float = 0.25, limit: float = 15.0) -> None:
        self._first, self._limit = first, limit
        self._next = first

    def next(self) -> float:
        """Return the seconds to wait now."""
        wait, self._next = self._next, min(2 * self._next, self._limit)
        return wait

    def reset(self) -> None:
        """Begin with the shortest wait again."""
        self._next = self._first
