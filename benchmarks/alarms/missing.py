"""False events on normal drives when a channel of the model is missing.

    python benchmarks/alarms/missing.py [--detector Relation ...]

Detectors are fitted on two simulated drives and calibrated on two others for one false event per
hour; then six new drives are scored with all channels and without some of them.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from axonad.alarms.recalibrate import recalibrate
from axonad.data.series import Series
from axonad.data.vehicle import SENSORS, simulate_drive
from axonad.registry import make_detector

DETECTORS = ["Relation", "CrossChannelRidge", "ControlChart", "PCA", "Forecast"]
STEPS = 15_000  # 25 minutes
NAMES = tuple(sensor.name for sensor in SENSORS)
MISSING = (
    ("vehicle_speed",), ("yaw_rate",), ("coolant_temperature",), ("engine_speed", "fuel_rate"),
)  # fmt: skip


def drive(seed: int) -> Series:
    values = simulate_drive(STEPS, np.random.default_rng(seed))
    return Series(values=values, channels=NAMES, times=np.arange(STEPS) / 10)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--detector", nargs="+", default=DETECTORS)
    warnings.simplefilter("ignore")
    tests = [drive(seed) for seed in range(21, 27)]
    print(f"| false events in {len(tests) * STEPS / 36_000:.1f} h | all channels | "
          + " | ".join(f"without {' and '.join(one)}" for one in MISSING) + " |")  # fmt: skip
    print("|---" * (2 + len(MISSING)) + "|")
    for name in parser.parse_args().detector:
        few = {"views": ("shape", "forecast", "relation")} if name == "MultiView" else {}
        detector = make_detector(name, **few).fit([drive(1), drive(2)])
        setup, _ = recalibrate(detector, [drive(11), drive(12)], budget="1 per hour")
        detector.set_alarms(setup)
        counts = [sum(len(detector.events(each)) for each in tests)]
        for missing in MISSING:
            reduced = detector.without(missing)
            left = reduced.channel_names or ()
            counts.append(sum(len(reduced.events(each.keep(left))) for each in tests))
        print(f"| {name} | " + " | ".join(map(str, counts)) + " |", flush=True)


if __name__ == "__main__":
    main()
