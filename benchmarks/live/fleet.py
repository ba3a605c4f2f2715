"""A simulated fleet with planted faults, its samples as messages, and a small model for it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from axonad import make_detector
from axonad.alarms.recalibrate import recalibrate
from axonad.data.vehicle import CHANNELS, SAMPLE_RATE, simulate_drive
from axonad.live.simulated import training_drives

STEP = 100_000  # microseconds
NAMES = tuple(CHANNELS)
YAW, SPEED = NAMES.index("yaw_rate"), NAMES.index("vehicle_speed")


@dataclass(frozen=True)
class Fleet:
    """Rows by vehicle at 10 Hz from ``start`` on, in microseconds since 1970."""

    start: int
    rows: dict[str, np.ndarray]

    @property
    def length(self) -> int:
        return len(next(iter(self.rows.values())))

    def last_time(self) -> int:
        return self.start + (self.length - 1) * STEP

    def message(self, vehicle: str, first: int, last: int) -> bytes:
        """Return the rows ``[first, last)`` of a vehicle as JSON in columns."""
        rows = self.rows[vehicle][first:last]
        times = [(self.start + number * STEP) / 1e6 for number in range(first, first + len(rows))]
        columns = {
            name: [None if math.isnan(value) else value for value in rows[:, i].tolist()]
            for i, name in enumerate(NAMES)
        }
        return json.dumps({"vehicle": vehicle, "times": times, "values": columns}).encode()


def make_fleet(vehicles: int, rows: int, *, start: int, seed: int = 0) -> Fleet:
    """Return a fleet in which a third of the vehicles has a fault of one of three kinds."""
    found = {}
    for number in range(vehicles):
        drive = simulate_drive(rows, np.random.default_rng([seed, 100 + number]))
        rng = np.random.default_rng([seed, 200 + number])
        for first in range(100 + 10 * number, rows - 60, 400):
            part = slice(first, first + 30 + int(rng.integers(30)))
            if number % 3 == 0:
                drive[part, YAW] += 12.0  # a sensor that is off
            elif number % 3 == 1 and number > 3:
                drive[part, SPEED] = drive[part.start, SPEED]  # one that is stuck
            elif number % 3 == 2 and number > 6:
                drive[part] = np.nan  # no data
        found[f"car-{number:03}"] = drive
    return Fleet(start, found)


def save_model(folder: Path, *, name: str = "CrossChannelRidge", **options: object) -> Path:
    """Fit a detector on simulated drives and save it with alarms; return its folder."""
    if not (folder / "detector.json").exists():
        normal, other = training_drives(2, seed=3)
        detector = make_detector(name, **options).fit(normal)
        setup, _ = recalibrate(
            detector, [other], budget="2 per hour", seconds_per_step=1 / SAMPLE_RATE
        )
        detector.set_alarms(setup)
        detector.save(folder)
    return folder
