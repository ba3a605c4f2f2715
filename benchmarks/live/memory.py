"""Memory of the live engine over millions of samples: many vehicles, as fast as they are stored.

It needs no server and no broker: samples go to the engine of one process and to SQLite.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from threading import Semaphore
from time import time

import numpy as np

from axonad import make_detector
from axonad.alarms.recalibrate import recalibrate
from axonad.data.vehicle import CHANNELS, SAMPLE_RATE
from axonad.live.config import Input, LiveConfig, Storing
from axonad.live.engine.local import LocalEngine
from axonad.live.sample import Delivery, Sample
from axonad.live.simulated import training_drives
from axonad.live.store.choose import open_store

STEP = round(1e6 / SAMPLE_RATE)  # microseconds
EVERY = 15.0  # seconds between two lines of the table


def make_model():
    *normal, other = training_drives(4, seed=3)
    detector = make_detector(
        "MultiView", views=("forecast", "relation"), context=("coolant_temperature",)
    ).fit(normal)
    setup, _ = recalibrate(detector, [other], budget="1 per hour", seconds_per_step=1 / SAMPLE_RATE)
    detector.set_alarms(setup)
    return detector, np.concatenate([series.values for series in normal])


def resident() -> float:
    """Return the memory of this process in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--vehicles", type=int, default=256)
    args = parser.parse_args()
    detector, values = make_model()
    offsets = np.random.default_rng(0).integers(0, len(values), args.vehicles)
    with tempfile.TemporaryDirectory() as folder:
        config = LiveConfig(
            input=Input(max_ahead="100d", commit_every="50ms"),
            store=Storing(url=f"sqlite:{folder}/memory.db"),
        )
        engine = LocalEngine(detector, open_store(config.store), config)
        engine.start()
        under_way, begin, shown, row = Semaphore(8), time(), 0.0, 0
        print("seconds   samples  minutes of the fleet  memory (MiB)  store (MiB)")
        while time() - begin < args.seconds:
            under_way.acquire()
            moment = round(begin * 1e6) + row * STEP
            samples = [
                Sample(
                    f"car {number}", moment,
                    dict(zip(CHANNELS, values[(first + row) % len(values)].tolist(), strict=True)),
                )
                for number, first in enumerate(offsets)
            ]  # fmt: skip
            done = Delivery(samples, "memory", lambda receipt: under_way.release())
            engine.submit(done, timeout=60.0)
            row += 1
            if time() - begin - shown >= EVERY:
                shown = time() - begin
                size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 2**20
                minutes, count = row / SAMPLE_RATE / 60, row * args.vehicles
                print(f"{shown:7.0f} {count:9d} {minutes:21.1f} {resident():13.1f} {size:12.1f}")
        engine.stop()


if __name__ == "__main__":
    main()
