"""Samples on their way from the process with the sources to the actors of a cluster."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Any

from axonad.errors import AxonADError
from axonad.live.engine.contract import UnavailableError
from axonad.live.inbox import Inbox
from axonad.live.sample import Delivery, Receipt

log = logging.getLogger("axonad.live")

ANSWER = 5.0  # seconds to wait for the answer of an actor to a question
PAUSES = (0.1, 5.0)  # seconds before a batch is sent again: the first pause, the longest
LOOK = 5.0  # seconds between two looks after an actor without work
TIMED = 2_000  # deliveries over which latencies are taken


@dataclass(frozen=True)
class Batch:
    """Deliveries on their way to an actor."""

    deliveries: list[Delivery]
    arrivals: list[float]  # by the monotonic clock
    packed: Any  # Ray's reference to their samples


class Lane:
    """The queue of one actor and the thread that empties it.

    Parameters
    ----------
    ray, actor
        The package, and the actor of a :class:`~axonad.live.engine.partition.Partition`.
    limit, batch
        Samples that may wait, and those that are sent together.
    taken
        Called when the queue has room again.
    """

    def __init__(
        self,
        ray: Any,
        actor: Any,
        *,
        limit: int,
        batch: int,
        name: str,
        taken: Callable[[], None],
    ) -> None:
        self.actor = actor
        self.inbox = Inbox(limit)
        self.trouble = ""
        self.latencies: deque[float] = deque(maxlen=TIMED)
        """Seconds from the arrival of a delivery to its receipt."""
        self._ray, self._batch, self._taken = ray, batch, taken
        self._oldest: float | None = None  # arrival of what is being sent
        self._asked = monotonic()
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    @property
    def lag(self) -> float:
        """Seconds for which the oldest delivery has waited, or is being sent."""
        oldest = self._oldest
        return self.inbox.lag if oldest is None else monotonic() - oldest

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self, *, timeout: float) -> None:
        """Send what waits, for so many seconds; take nothing more."""
        self.inbox.close()
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def ask(self, method: str, *args: Any, **options: Any) -> Any:
        """Return a promise of what the actor's engine answers."""
        return self.actor.ask.remote(method, args, options)

    def answer(self, asked: Any, *, timeout: float = ANSWER) -> Any:
        """Return what was promised; raise an AxonADError if the actor cannot answer."""
        try:
            return self._ray.get(asked, timeout=timeout)
        except self._ray.exceptions.RayError as error:
            raise explain(error) from None

    def _run(self) -> None:
        following: Batch | None = None
        while following or not (self._stopping.is_set() and not len(self.inbox)):
            batch = following or self._next(timeout=0.5)
            following = None
            if batch is None:
                self._look_after()
                continue
            self._oldest = batch.arrivals[0]
            try:
                asked = self.actor.take.remote(batch.packed)
                if len(self.inbox) >= self._batch // 2:  # packed while the actor is at work
                    following = self._next(timeout=0.0)
                receipts = self._await(asked, batch)
            except Exception as error:
                log.exception("samples could not be sent to an actor")
                receipt = Receipt(error=f"{type(error).__name__}: {error}")
                receipts = [receipt] * len(batch.deliveries)
            now = monotonic()
            self.latencies.extend(now - arrived for arrived in batch.arrivals)
            self._oldest = None
            _hand_out(batch.deliveries, receipts)

    def _next(self, *, timeout: float) -> Batch | None:
        """Return what waits, packed; None if nothing comes in time."""
        taken = self.inbox.take(self._batch, timeout=timeout)
        if not taken:
            return None
        self._taken()
        deliveries = [delivery for _, delivery in taken]
        packed = [
            [(sample.vehicle, sample.time, dict(sample.values)) for sample in delivery.samples]
            for delivery in deliveries
        ]
        try:
            kept = self._ray.put(packed)
        except Exception as error:  # such as no room in the object store
            log.exception("samples could not be packed for an actor")
            _hand_out(deliveries, [Receipt(error=f"{type(error).__name__}")] * len(deliveries))
            return None
        return Batch(deliveries, [arrived for arrived, _ in taken], kept)

    def _await(self, asked: Any, batch: Batch) -> list[Receipt]:
        """Return the receipts; if they do not come, send again until the actor's successor can."""
        pause, longest = PAUSES
        while True:
            try:
                receipts: list[Receipt] = self._ray.get(asked)
            except self._ray.exceptions.RayError as error:
                self._note(str(explain(error)))
                if self._stopping.wait(pause):
                    return [Receipt(error=self.trouble)] * len(batch.deliveries)
                pause = min(2 * pause, longest)
                asked = self.actor.take.remote(batch.packed)
            else:
                self._note("")
                return receipts

    def _look_after(self) -> None:
        """Now and then, while there is nothing to send: is the actor there."""
        if self._stopping.is_set() or monotonic() - self._asked < LOOK:
            return
        self._asked = monotonic()
        try:
            self.answer(self.actor.ready.remote())
        except AxonADError as error:
            self._note(str(error))
        else:
            self._note("")

    def _note(self, trouble: str) -> None:
        if trouble and not self.trouble:
            log.warning("%s; its samples wait", trouble)
        elif self.trouble and not trouble:
            log.warning("all samples of the actor are taken again")
        self.trouble = trouble


def explain(error: Exception) -> AxonADError:
    """Return an error of Ray as ours: what the actor said, or that it does not answer."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, AxonADError):
        return cause
    return UnavailableError(f"an actor does not answer ({type(cause or error).__name__})")


def _hand_out(deliveries: list[Delivery], receipts: list[Receipt]) -> None:
    for delivery, receipt in zip(deliveries, receipts, strict=True):
        try:
            delivery.done(receipt)
        except Exception:
            log.exception("the receipt of a delivery of %s was not taken", delivery.source)
