"""One part of a fleet that is scored on many machines: what runs inside an actor.

A part has its own store and its own sinks. It is built again by Ray when its process or machine
dies; it then resumes from its store, and the deliveries that it had not answered come again.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from axonad.live.config import LiveConfig
from axonad.live.engine.local import LocalEngine
from axonad.live.sample import Delivery, Receipt, Sample
from axonad.live.sinks.choose import open_sinks
from axonad.live.sinks.runner import SinkRunner
from axonad.live.store.choose import open_store
from axonad.live.store.contract import StoreError

PATIENCE = 60.0  # seconds in which the store of a dead predecessor must become free
LONGEST = 300.0  # seconds to wait for a commit

Packed = list[tuple[str, int, dict[str, float]]]
"""Samples as plain tuples, which Ray copies fast."""


def part_of(vehicle: str, parts: int) -> int:
    """Return the part that a vehicle belongs to.

    >>> [part_of(f"car {number}", 4) for number in range(8)]
    [1, 1, 3, 3, 1, 3, 3, 3]
    """
    digest = hashlib.blake2b(vehicle.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % parts


def read_model(folder: Path) -> dict[str, bytes]:
    """Return the files of a model folder, to be written again elsewhere."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


class Partition:
    """The engine of one part; Ray makes an actor of it."""

    def __init__(
        self,
        model: Mapping[str, bytes],
        config: LiveConfig,
        *,
        number: int,
        parts: int,
        new_model: bool = False,
    ) -> None:
        threads = str(config.engine.threads)
        os.environ.update({"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads})
        from axonad.registry import load

        with tempfile.TemporaryDirectory() as name:
            for file, data in model.items():
                (Path(name) / file).write_bytes(data)
            detector = load(name)
        if "verbose" in detector.get_params():
            detector.set_params(verbose=False)
        until = monotonic() + PATIENCE
        while True:
            store = open_store(config.store, partition=str(number))
            engine = LocalEngine(detector, store, config, part=f"{number}/{parts}")
            if new_model:
                store.replace_model(engine.owner)
            try:
                engine.start()
                break
            except StoreError:  # its predecessor's lock may still hold
                store.close()
                if monotonic() > until:
                    raise
                Event().wait(0.5)
        self._engine = engine
        self._sinks = [SinkRunner(sink, store) for sink in open_sinks(config)]
        for sink in self._sinks:
            sink.start()

    def ready(self) -> int:
        """Return the number of the process."""
        return os.getpid()

    def take(self, deliveries: list[Packed]) -> list[Receipt]:
        """Score and store deliveries; return their receipts."""
        receipts: dict[int, Receipt] = {}
        finished = Event()

        def keep(number: int, receipt: Receipt) -> None:
            receipts[number] = receipt
            if len(receipts) == len(deliveries):
                finished.set()

        for number, packed in enumerate(deliveries):
            samples = [Sample(*sample) for sample in packed]
            done = _Done(keep, number)
            self._engine.submit(Delivery(samples, "ray", done), timeout=LONGEST)
        if deliveries and not finished.wait(LONGEST):
            raise TimeoutError(f"{len(deliveries) - len(receipts)} deliveries are not stored yet")
        return [receipts[number] for number in range(len(deliveries))]

    def ask(self, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return what a method of the engine answers."""
        return getattr(self._engine, method)(*args, **options)

    def stop(self) -> None:
        """Store everything and end."""
        for sink in self._sinks:
            sink.stop()
        self._engine.stop()


class _Done:
    """Keeps the receipt of a delivery under its number."""

    def __init__(self, keep: Any, number: int) -> None:
        self._keep, self._number = keep, number

    def __call__(self, receipt: Receipt) -> None:
        self._keep(self._number, receipt)
