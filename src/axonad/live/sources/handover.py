"""Messages on their way to the engine: in order, one delivery at a time, kept until stored.

One delivery at a time keeps the order of messages when a commit fails, and makes a stored position
mean that everything before it is stored. What arrives meanwhile becomes the next delivery, so
deliveries grow with the load. Used by one thread; only receipts come from another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar

from axonad.live.engine.contract import Engine
from axonad.live.inbox import OverloadError
from axonad.live.sample import Delivery, Receipt, Sample
from axonad.live.sources.backoff import Backoff

Token = TypeVar("Token")

BATCH = 2_000  # samples of a delivery, about: the page waits while one is scored
LIMIT = 20_000  # samples or messages that wait before the source stops reading
RETRY = 0.05  # seconds after which a full engine is asked again


@dataclass(slots=True)
class _Message(Generic[Token]):
    samples: Sequence[Sample]
    token: Token
    position: int | None


@dataclass(slots=True)
class _Parcel(Generic[Token]):
    """Messages that become one delivery; ``receipt`` is set by the engine's thread."""

    tokens: list[Token]
    delivery: Delivery
    is_submitted: bool = False
    receipts: list[Receipt] = field(default_factory=list)


class Handover(Generic[Token]):
    """Hands messages to an engine.

    Parameters
    ----------
    engine
        Who scores and stores them.
    source
        The name of the source; with a stream such as ``nats:FLEET`` also that of its positions.
    wake
        Called from the engine's thread when there is a receipt; it must not raise.
    """

    def __init__(self, engine: Engine, source: str, *, wake: Callable[[], None]) -> None:
        self._engine = engine
        self._source = source
        self._wake = wake
        self._queue: deque[_Message[Token]] = deque()
        self._queued = 0  # samples in the queue
        self._parcel: _Parcel[Token] | None = None
        self._not_before = 0.0
        self._backoff = Backoff(0.5, 10.0)
        self.error = ""  # why the last delivery was not stored

    @property
    def waiting(self) -> int:
        """Samples that are not stored yet."""
        parcel = self._parcel
        return self._queued + (len(parcel.delivery.samples) if parcel else 0)

    @property
    def has_room(self) -> bool:
        """Whether the source may read on."""
        return self._queued < LIMIT and len(self._queue) < LIMIT

    @property
    def is_idle(self) -> bool:
        """Whether everything is stored."""
        return self._parcel is None and not self._queue

    @property
    def is_waiting_for_receipt(self) -> bool:
        """Whether the engine has a delivery."""
        return self._parcel is not None and self._parcel.is_submitted

    def put(self, samples: Sequence[Sample], token: Token, position: int | None = None) -> None:
        """Add a message; one without samples is acknowledged when its turn comes."""
        self._queue.append(_Message(samples, token, position))
        self._queued += len(samples)

    def forget(self, is_gone: Callable[[Token], bool]) -> None:
        """Drop messages that the engine does not have and the broker sends again."""
        parcel = self._parcel
        if parcel is not None and not parcel.is_submitted and all(map(is_gone, parcel.tokens)):
            self._parcel = None
        kept = [message for message in self._queue if not is_gone(message.token)]
        self._queue = deque(kept)
        self._queued = sum(len(message.samples) for message in kept)

    def advance(self) -> list[Token]:
        """Submit what can be; return the tokens of messages that are stored now, in order."""
        stored: list[Token] = []
        while True:
            parcel = self._parcel = self._parcel or self._next_parcel()
            if parcel is None or not (parcel.is_submitted or self._submit(parcel)):
                return stored
            stored += self.take_stored()
            if self._parcel is not None:
                return stored

    def take_stored(self) -> list[Token]:
        """Return the tokens of the delivery that the engine has, if it is stored now."""
        parcel = self._parcel
        if parcel is None or not parcel.receipts:
            return []
        receipt = parcel.receipts.pop()
        if receipt.error:
            self.error = receipt.error
            parcel.is_submitted = False
            self._not_before = monotonic() + self._backoff.next()
            return []
        self.error = ""
        self._backoff.reset()
        self._parcel = None
        return parcel.tokens

    def pause(self, longest: float) -> float:
        """Return for how many seconds nothing has to be done unless something arrives."""
        if self._parcel is None or self._parcel.is_submitted:
            return longest
        return min(max(self._not_before - monotonic(), 0.0), longest)

    def _next_parcel(self) -> _Parcel[Token] | None:
        if not self._queue:
            return None
        samples: list[Sample] = []
        tokens = []
        position = None
        while self._queue and len(samples) < BATCH:
            message = self._queue.popleft()
            samples += message.samples
            tokens.append(message.token)
            position = message.position if message.position is not None else position
        self._queued -= len(samples)
        place = None if position is None else (self._source, position)
        return _Parcel(tokens, Delivery(samples=samples, source=self._source, position=place))

    def _submit(self, parcel: _Parcel[Token]) -> bool:
        if not parcel.delivery.samples:
            parcel.is_submitted = True
            parcel.receipts.append(Receipt())
            return True
        if monotonic() < self._not_before:
            return False

        def done(receipt: Receipt) -> None:
            parcel.receipts.append(receipt)
            self._wake()

        old = parcel.delivery
        parcel.delivery = Delivery(old.samples, old.source, done, old.position)
        parcel.is_submitted = True  # before the receipt, which may come at once
        try:
            self._engine.submit(parcel.delivery)
        except OverloadError:
            parcel.is_submitted = False
            self._not_before = monotonic() + RETRY
            return False
        return True
