"""Samples on their way from the process with the sources to the actors of a cluster."""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import Any

from axonad.live.inbox import Inbox
from axonad.live.sample import Delivery, Receipt

log = logging.getLogger("axonad.live")

ANSWER = 5.0  # seconds to wait for the answer of an actor to a question
PAUSES = (0.1, 5.0)  # seconds before a batch is sent again: the first pause, the longest


class Lane:
    """The queue of one actor and the thread that empties it."""

    def __init__(self, ray: Any, actor: Any, *, limit: int, batch: int, name: str) -> None:
        self.actor = actor
        self.inbox = Inbox(limit)
        self.trouble = ""
        self._ray, self._batch = ray, batch
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self) -> None:
        """Send what waits, then end."""
        self.inbox.close()
        self._stopping.set()
        self._thread.join()

    def ask(self, method: str, *args: Any, **options: Any) -> Any:
        """Return what the actor's engine answers; raise Ray's errors if it cannot."""
        return self._ray.get(self.actor.ask.remote(method, args, options), timeout=ANSWER)

    def _run(self) -> None:
        while not (self._stopping.is_set() and not len(self.inbox)):
            deliveries = [d for _, d in self.inbox.take(self._batch, timeout=0.5)]
            if deliveries:
                self._send(deliveries)

    def _send(self, deliveries: list[Delivery]) -> None:
        """Send deliveries until they are answered; without an actor, wait for its successor."""
        packed = [
            [(sample.vehicle, sample.time, dict(sample.values)) for sample in delivery.samples]
            for delivery in deliveries
        ]
        pause, longest = PAUSES
        while True:
            try:
                receipts = self._ray.get(self.actor.take.remote(packed))
            except self._ray.exceptions.RayError as error:
                self.trouble = f"an actor does not answer: {type(error).__name__}"
                log.warning("%s; its samples are sent again", self.trouble)
                if self._stopping.is_set():
                    receipts = [Receipt(error=self.trouble)] * len(deliveries)
                else:
                    self._stopping.wait(pause)
                    pause = min(2 * pause, longest)
                    continue
            else:
                self.trouble = ""
            for delivery, receipt in zip(deliveries, receipts, strict=True):
                delivery.done(receipt)
            return
