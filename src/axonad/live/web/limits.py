"""How many requests a client may send: a bucket of tokens for each, refilled at a steady rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_CLIENTS = 10_000  # of which the buckets are kept


class Buckets:
    """Tokens of clients; ``rate`` per second up to ``burst``. A rate of 0 limits nothing."""

    def __init__(
        self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst = rate, max(1, burst)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> bool:
        """Take a token of a client; False if there is none."""
        if self.rate == 0:
            return True
        now = self._clock()
        left, since = self._left.pop(client, (float(self.burst), now))
        left = min(float(self.burst), left + (now - since) * self.rate)
        is_allowed = left >= 1
        self._left[client] = (left - 1 if is_allowed else left, now)
        while len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return is_allowed
