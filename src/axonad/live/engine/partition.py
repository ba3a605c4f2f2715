"""One part of a fleet that is scored on many machines: what runs inside an actor.

A part has its own store and its own sinks. It is built again by Ray when its process or machine
dies; it then resumes from its store, and the deliveries that it had not answered come again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from axonad.detector import Detector
from axonad.errors import AxonADError
from axonad.live.config import LiveConfig
from axonad.live.engine.contract import Part, UnavailableError
from axonad.live.engine.local import LocalEngine
from axonad.live.engine.status import part_of_sink
from axonad.live.inbox import OverloadError
from axonad.live.sample import Delivery, Receipt, Sample
from axonad.live.sinks.choose import open_sinks
from axonad.live.sinks.runner import SinkRunner
from axonad.live.store.choose import open_store

log = logging.getLogger("axonad.live")

LONGEST = 300.0  # seconds to wait for room in the queue, which the part before has left empty
BUSY = 1.0  # seconds that a question waits while the part resumes its vehicles

Packed = list[tuple[str, int, dict[str, float]]]
"""Samples as plain tuples, which Ray copies fast."""


@lru_cache(maxsize=2**18)
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


def config_of_part(config: LiveConfig, number: int, parts: int) -> LiveConfig:
    """Return the configuration of one part: its share of the disk, its own name at the broker."""
    store = replace(config.store, max_size=config.store.max_size // parts)
    mqtt = replace(config.mqtt, client_id=f"{config.mqtt.client_id}-{number}")
    return replace(config, store=store, mqtt=mqtt)


class Partition:
    """The engine of one part; Ray makes an actor of it.

    A store that cannot be opened is tried again with every call, so that the part begins as soon
    as it can be, and says why not until then.
    """

    def __init__(
        self,
        model: Mapping[str, bytes],
        config: LiveConfig,
        *,
        number: int,
        parts: int,
        new_model: bool = False,
    ) -> None:
        self._number, self._parts, self._new_model = number, parts, new_model
        self._config = config_of_part(config, number, parts)
        self._detector = _load(model)
        self._opening = Lock()
        self._engine: LocalEngine | None = None
        self._sinks: list[SinkRunner] = []
        self._is_stopping = False
        Thread(target=self._open_early, name="axonad-open", daemon=True).start()

    def ready(self) -> int:
        """Return the number of the process once the part has resumed."""
        self._open(wait=LONGEST)
        return os.getpid()

    def take(self, deliveries: list[Packed]) -> list[Receipt]:
        """Score and store deliveries; return their receipts."""
        engine = self._open(wait=LONGEST)
        receipts: dict[int, Receipt] = {}
        finished = Event()

        def keep(number: int, receipt: Receipt) -> None:
            receipts[number] = receipt
            if len(receipts) == len(deliveries):
                finished.set()

        for number, packed in enumerate(deliveries):
            samples = [Sample(*sample) for sample in packed]
            done = _Done(keep, number)
            try:
                engine.submit(Delivery(samples, "ray", done), timeout=LONGEST)
            except OverloadError:
                self._end_if_failed(engine)
                raise
        if deliveries:
            finished.wait()
        return [receipts[number] for number in range(len(deliveries))]

    def ask(self, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return what a method of the engine answers."""
        return getattr(self._open(wait=BUSY), method)(*args, **options)

    def stop(self) -> None:
        """Store everything and end."""
        self._is_stopping = True
        for sink in self._sinks:
            sink.stop()
        if self._engine is not None:
            self._engine.stop()

    def _open_early(self) -> None:
        with suppress(AxonADError):  # said again to whoever asks
            self._open(wait=LONGEST)

    def _open(self, *, wait: float) -> LocalEngine:
        """Return the engine; open its store and resume its vehicles first, if that is to be done.

        Whoever comes while another thread does that waits for so many seconds.
        """
        if (engine := self._engine) is not None:
            return engine
        if self._is_stopping:
            raise UnavailableError("the server is stopping")
        if not self._opening.acquire(timeout=wait):
            raise UnavailableError(
                f"part {self._number} of {self._parts} of the fleet resumes its vehicles"
            )
        try:
            if (engine := self._engine) is None:  # no other thread did meanwhile
                engine = self._start()
            return engine
        finally:
            self._opening.release()

    def _start(self) -> LocalEngine:
        store = open_store(self._config.store, partition=str(self._number))
        part = f"{self._number}/{self._parts}"
        engine = LocalEngine(self._detector, store, self._config, part=part)
        sinks = [SinkRunner(sink, store) for sink in open_sinks(self._config)]
        try:
            if self._new_model:
                store.replace_model(engine.owner)
            engine.start()
        except BaseException:
            store.close()
            raise
        for sink in sinks:
            sink.start()
            engine.attach(partial(self._look_at, sink))
        self._engine, self._sinks = engine, sinks
        return engine

    def _look_at(self, sink: SinkRunner) -> Part:
        return part_of_sink(sink.status, of=f" of actor {self._number}")

    def _end_if_failed(self, engine: LocalEngine) -> None:
        """End the process if its engine has ended without being told to; Ray starts another."""
        if not self._is_stopping and (trouble := engine.health().trouble):
            log.error("the process ends: %s", trouble)
            os._exit(1)


def _load(model: Mapping[str, bytes]) -> Detector:
    from axonad.registry import load

    with tempfile.TemporaryDirectory() as name:
        for file, data in model.items():
            (Path(name) / file).write_bytes(data)
        detector = load(name)
    if "verbose" in detector.get_params():
        detector.set_params(verbose=False)
    return detector


class _Done:
    """Keeps the receipt of a delivery under its number."""

    def __init__(self, keep: Any, number: int) -> None:
        self._keep, self._number = keep, number

    def __call__(self, receipt: Receipt) -> None:
        self._keep(self._number, receipt)
