from __future__ import annotations

import numpy as np
import pytest

from axonad import make_detector
from axonad.data.series import Series

NAMES = ("steer", "speed", "yaw", "torque", "fuel", "noise", "roll")


def drive(rows: int, seed: int = 0) -> np.ndarray:
    """Yaw is steer times speed, roll follows it, fuel follows torque, noise follows nothing."""
    rng = np.random.default_rng(seed)

    def smooth(width: int) -> np.ndarray:
        course = np.convolve(rng.normal(size=rows + width), np.ones(width) / width, mode="valid")
        return course[:rows] * np.sqrt(width)

    steer, torque = smooth(15), 100 + 20 * smooth(20)
    speed = 10 + smooth(60)
    yaw = steer * speed / 10 + 0.02 * rng.normal(size=rows)
    fuel = torque / 10 + 0.05 * rng.normal(size=rows)
    roll = steer * speed / 20 + 0.02 * rng.normal(size=rows)
    return np.column_stack([steer, speed, yaw, torque, fuel, rng.normal(size=rows), roll])


def series(values: np.ndarray, names: tuple[str, ...] = NAMES) -> Series:
    return Series(values=values, channels=names)


@pytest.fixture(scope="session")
def ridge():
    return make_detector("Relation", lags=2, smooth=8, align="end").fit(series(drive(3_000)))


@pytest.fixture(scope="session")
def frozen_yaw():
    """A recording whose yaw is stuck at 0 in rows 300 to 379."""
    X = drive(700, seed=1)
    X[300:380, 2] = 0.0
    return X
