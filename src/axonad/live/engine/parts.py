"""Deliveries cut into parts that are scored, and may fail, on their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from threading import Lock

from axonad.live.sample import Delivery, Receipt, Sample


class Split:
    """A delivery cut into parts; its source is answered when all of them are stored."""

    def __init__(self, delivery: Delivery, parts: int) -> None:
        self._delivery, self._left, self._lock = delivery, parts, Lock()
        self._receipts: list[Receipt] = []

    def done(self, receipt: Receipt) -> None:
        """Take the receipt of one part."""
        with self._lock:
            self._receipts.append(receipt)
            self._left -= 1
            if self._left:
                return
        refused: Counter[str] = Counter()
        for part in self._receipts:
            refused.update(part.refused)
        accepted = sum(part.accepted for part in self._receipts)
        error = next((part.error for part in self._receipts if part.error), "")
        self._delivery.done(Receipt(accepted, dict(refused), error))


def split(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Return several deliveries one by one, or the samples of a single one vehicle by vehicle.

    A delivery of one vehicle is returned as it is. The last part has the position of the whole:
    once it is stored, all before it is.
    """
    if len(deliveries) != 1:
        return list(deliveries)
    whole = deliveries[0]
    samples: dict[str, list[Sample]] = {}
    for sample in whole.samples:
        samples.setdefault(sample.vehicle, []).append(sample)
    if len(samples) <= 1:
        return [whole]
    done = Split(whole, len(samples)).done
    parts = [Delivery(some, whole.source, done) for some in samples.values()]
    parts[-1].position = whole.position
    return parts
