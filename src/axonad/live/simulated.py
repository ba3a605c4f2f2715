"""A simulated fleet for the demo: cars that drive by the clock, one of which develops a fault."""

from __future__ import annotations

from threading import Event, Thread
from time import monotonic, time

import numpy as np
from numpy.typing import NDArray

from axonad.data.series import Series
from axonad.data.vehicle import CHANNELS, SAMPLE_RATE, simulate_drive
from axonad.live.engine.contract import Engine
from axonad.live.inbox import OverloadError
from axonad.live.sample import Delivery, Sample
from axonad.live.sources.contract import SourceStatus

CARS = 8
FAULTY = 2  # number of the car that develops the fault
FAULT_AFTER = 60.0  # seconds
MINUTES = 30  # of driving before a car repeats its drive
HISTORY = 30.0  # seconds that have been driven when the server starts
TRAINING = 20_000  # rows of the drive that the demo's model learns from

Array = NDArray[np.float64]


def training_drives(seed: int) -> tuple[Series, Series]:
    """Return a drive to learn from and one to set the alarms by, both without faults."""
    names = tuple(CHANNELS)
    drives = [
        Series(
            values=simulate_drive(TRAINING, np.random.default_rng([seed, part])), channels=names,
            times=np.arange(TRAINING) / SAMPLE_RATE,
        )
        for part in (0, 1)
    ]  # fmt: skip
    return drives[0], drives[1]


class SimulatedFleet:
    """A source of samples: ``cars`` cars at 10 Hz, as long as it runs.

    In one of them the yaw rate sensor begins to fail after a minute: it shows less and less of how
    the car turns. Every value stays in its usual range.
    """

    name = "simulated fleet"

    def __init__(
        self, *, cars: int = CARS, seed: int = 0, fault_after: float = FAULT_AFTER
    ) -> None:
        steps = round(MINUTES * 60 * SAMPLE_RATE)
        self._drives = {
            f"car {number}": simulate_drive(steps, np.random.default_rng([seed, 10 + number]))
            for number in range(1, cars + 1)
        }
        self._fault_row = round((HISTORY + fault_after) * SAMPLE_RATE)
        self._stopping = Event()
        self._thread: Thread | None = None
        self._sent = 0

    @property
    def faulty(self) -> str:
        """Name of the car that develops the fault."""
        return f"car {min(FAULTY, len(self._drives))}"

    def rows(self, number: int) -> dict[str, Array]:
        """Return the row with this number of every car."""
        rows = {car: drive[number % len(drive)].copy() for car, drive in self._drives.items()}
        if number >= self._fault_row:
            column = list(CHANNELS).index("yaw_rate")
            rows[self.faulty][column] *= 0.2
        return rows

    def start(self, engine: Engine) -> None:
        """Begin to send."""
        self._thread = Thread(target=self._run, args=(engine,), name="axonad-demo", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Send no more."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def status(self) -> SourceStatus:
        """Return how the source is."""
        return SourceStatus(self.name, not self._stopping.is_set(), self._sent)

    def _run(self, engine: Engine) -> None:
        begin, start = time() - HISTORY, monotonic() - HISTORY
        number = 0
        while not self._stopping.is_set():
            moment = round((begin + number / SAMPLE_RATE) * 1e6)
            samples = [
                Sample(car, moment, dict(zip(CHANNELS, row.tolist(), strict=True)))
                for car, row in self.rows(number).items()
            ]
            try:
                engine.submit(Delivery(samples, self.name), timeout=1.0)
            except OverloadError:
                continue
            number += 1
            self._sent += 1
            self._stopping.wait(max(0.0, start + number / SAMPLE_RATE - monotonic()))
