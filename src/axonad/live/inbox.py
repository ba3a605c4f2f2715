"""The queue between sources and the engine: bounded, shared by threads."""

from __future__ import annotations

from collections import deque
from threading import Condition
from time import monotonic

from axonad.errors import AxonADError
from axonad.live.sample import Delivery


class OverloadError(AxonADError):
    """The queue is full; the source has to wait and offer the delivery again."""


class Inbox:
    """Deliveries that wait to be scored, at most ``limit`` samples of them.

    A delivery larger than the limit is taken while the queue is empty.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._waiting: deque[tuple[float, Delivery]] = deque()  # with the time of arrival
        self._changed = Condition()
        self._samples = 0
        self._is_closed = False

    def __len__(self) -> int:
        """Return the number of samples that wait."""
        return self._samples

    @property
    def is_full(self) -> bool:
        """Whether the next delivery would be refused."""
        return self._samples >= self.limit

    def put(self, delivery: Delivery, *, timeout: float = 0.0) -> None:
        """Add a delivery; wait up to ``timeout`` seconds for room, then raise OverloadError."""
        until = monotonic() + timeout
        with self._changed:
            while not self._is_closed and not self._has_room(delivery):
                left = until - monotonic()
                if left <= 0:
                    raise OverloadError(f"{self._samples} samples are waiting; try again later")
                self._changed.wait(left)
            if self._is_closed:
                raise OverloadError("the server is stopping; try again later")
            self._waiting.append((monotonic(), delivery))
            self._samples += len(delivery.samples)
            self._changed.notify_all()

    @property
    def lag(self) -> float:
        """Seconds for which the oldest delivery has waited."""
        with self._changed:
            return monotonic() - self._waiting[0][0] if self._waiting else 0.0

    def take(self, samples: int, *, timeout: float) -> list[tuple[float, Delivery]]:
        """Return deliveries of about so many samples, in order; wait for the first one.

        With each comes the time of its arrival by the monotonic clock.
        """
        until = monotonic() + timeout
        found: list[tuple[float, Delivery]] = []
        size = 0
        with self._changed:
            while not self._waiting and not self._is_closed and (left := until - monotonic()) > 0:
                self._changed.wait(left)
            while self._waiting and size < samples:
                found.append(self._waiting.popleft())
                size += len(found[-1][1].samples)
            self._samples -= size
            self._changed.notify_all()
        return found

    def close(self) -> None:
        """Refuse deliveries from now on; those that wait can still be taken."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _has_room(self, delivery: Delivery) -> bool:
        return not self._waiting or self._samples + len(delivery.samples) <= self.limit
