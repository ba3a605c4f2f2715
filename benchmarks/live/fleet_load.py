"""A model and the samples of a fleet at 10 Hz, for the measurements of ``axonad live``."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from axonad import make_detector
from axonad.data.vehicle import CHANNELS, simulate_drive
from axonad.detector import Detector
from axonad.live.engine.partition import read_model
from axonad.live.sample import Delivery, Sample
from axonad.live.simulated import training_drives

HERTZ = 10
STEP = 1_000_000 // HERTZ  # microseconds
DETECTORS = {
    "CrossChannelRidge": {},
    "MultiView": {"views": ("forecast", "relation")},
}


def fit(name: str) -> Detector:
    """Return a detector fitted on simulated drives, with an alarm policy."""
    detector = make_detector(name, alarm_budget="1 per hour", **DETECTORS[name])
    return detector.fit(training_drives(3, seed=0))


def files_of(detector: Detector) -> dict[str, bytes]:
    """Return the files of a saved detector."""
    with TemporaryDirectory() as folder:
        detector.save(Path(folder) / "model")
        return read_model(Path(folder) / "model")


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Append a row to a CSV file, which gets a header first."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


class Load:
    """The samples of a fleet: each vehicle drives the same drive, begun at another place.

    ``second(n)`` has the samples of second n, in deliveries of ``together`` vehicles.
    """

    def __init__(self, vehicles: int, *, together: int = 50, minutes: int = 5) -> None:
        import numpy as np

        steps = minutes * 60 * HERTZ
        self.drive = simulate_drive(steps, np.random.default_rng(7)).tolist()
        self.names = [f"vehicle {number}" for number in range(vehicles)]
        self.together = together
        self.start = (int(time.time()) - 3600) * 1_000_000

    def second(self, number: int) -> Iterator[Delivery]:
        """Yield the deliveries of one second."""
        for first in range(0, len(self.names), self.together):
            names = range(first, min(first + self.together, len(self.names)))
            rows = range(number * HERTZ, (number + 1) * HERTZ)
            samples = [self.sample(name, row) for row in rows for name in names]
            yield Delivery(samples, "load")

    def sample(self, vehicle: int, row: int) -> Sample:
        """Return the sample of a vehicle at a row."""
        values = self.drive[(row + 37 * vehicle) % len(self.drive)]
        time = self.start + row * STEP
        return Sample(self.names[vehicle], time, dict(zip(CHANNELS, values, strict=True)))
