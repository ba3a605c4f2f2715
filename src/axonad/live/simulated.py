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
FAULT_AFTER = 60.0  # seconds
MINUTES = 30  # of driving before a car repeats its drive
HISTORY = 30.0  # seconds that have been driven when the server starts
TRAINING = 12_000  # rows of each drive that the demo's model learns from
LOOK_AHEAD = 200  # rows after the beginning of the fault in which the faulty car turns most

YAW = list(CHANNELS).index("yaw_rate")
LEFT = 0.2  # share of the yaw rate that the failing sensor shows

Array = NDArray[np.float64]


def training_drives(count: int, *, seed: int) -> list[Series]:
    """Return drives without faults."""
    return [
        Series(
            values=simulate_drive(TRAINING, np.random.default_rng([seed, part])),
            channels=tuple(CHANNELS),
            times=np.arange(TRAINING) / SAMPLE_RATE,
        )
        for part in range(count)
    ]


class SimulatedFleet:
    """A source of samples: ``cars`` cars at 10 Hz, as long as it runs.

    After a minute the yaw rate sensor of one of them shows a fifth of how the car turns: steering
    moves, and the car seems not to. Every value stays in its usual range.
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
        self.faulty = self._most_turning()
        """Name of the car that develops the fault."""
        self._stopping = Event()
        self._thread: Thread | None = None
        self._sent = 0

    def rows(self, number: int) -> dict[str, Array]:
        """Return the row with this number of every car."""
        rows = {car: drive[number % len(drive)].copy() for car, drive in self._drives.items()}
        if number >= self._fault_row:
            rows[self.faulty][YAW] *= LEFT
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

    def _most_turning(self) -> str:
        """Return the car that turns most when the fault begins, so that it shows soon."""
        shown = slice(self._fault_row, self._fault_row + LOOK_AHEAD)
        turning = {car: np.abs(drive[shown, YAW]).mean() for car, drive in self._drives.items()}
        return max(turning, key=lambda car: turning[car])

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
