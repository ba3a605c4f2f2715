"""A small model with alarms, and drives of a few vehicles to send."""

from dataclasses import dataclass

import numpy as np
import pytest

from axonad import make_detector
from axonad.live.sample import Sample

CHANNELS = ("speed", "yaw_rate", "steering")
STEP = 100_000  # microseconds
START = 1_700_000_000_000_000


@dataclass(frozen=True)
class Drives:
    """Rows by vehicle, at 10 Hz from START on; vehicle "b" has a fault."""

    rows: dict

    def samples(self, vehicle):
        for number, row in enumerate(self.rows[vehicle]):
            values = dict(zip(CHANNELS, row.tolist(), strict=True))
            yield Sample(vehicle, START + number * STEP, values)

    def interleaved(self):
        """Yield all samples in order of time."""
        for together in zip(*(self.samples(vehicle) for vehicle in self.rows), strict=True):
            yield from together


def _drive(steps, seed):
    rng = np.random.default_rng(seed)
    speed = 20 + np.cumsum(rng.normal(size=steps)) * 0.1
    steering = np.convolve(rng.normal(size=steps + 20), np.ones(21) / 21, "valid") * 5
    yaw = steering * 0.8 + rng.normal(size=steps) * 0.05
    return np.stack([speed, yaw, steering], axis=1)


@pytest.fixture(scope="session")
def live_detector():
    from axonad.data.series import Series

    times = np.datetime64("2024-01-01") + np.arange(3_000) * np.timedelta64(100, "ms")
    values = _drive(3_000, 0)
    series = Series(values=values, channels=CHANNELS, times=times)
    return make_detector("CrossChannelRidge", alarm_budget="2 per 1000 steps").fit(series)


@pytest.fixture(scope="session")
def drives():
    rows = {name: _drive(400, seed) for seed, name in enumerate(("a", "b", "c"), start=1)}
    rows["b"][150:200, 1] += 3.0
    rows["c"][90:95] = np.nan
    return Drives(rows)
