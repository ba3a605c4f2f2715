"""The time of the server, for samples that claim to come from the future and for silence."""

from __future__ import annotations

import time


class ServerClock:
    """Wall time that never falls behind the time that has passed since the start.

    If the machine's clock is set back, samples of vehicles would otherwise seem to come from the
    future and be refused.
    """

    def __init__(self) -> None:
        self._wall, self._mono = time.time(), time.monotonic()

    def now(self) -> float:
        """Return seconds since 1970."""
        return max(time.time(), self._wall + time.monotonic() - self._mono)

    def monotonic(self) -> float:
        """Return seconds that only ever grow, for durations."""
        return time.monotonic()
