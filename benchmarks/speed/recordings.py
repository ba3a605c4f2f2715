"""Measure a fit on ten recordings beside a fit on one of the same total length.

    cd benchmarks/speed
    OMP_NUM_THREADS=1 python recordings.py

Ten generated drives are learned from as a list and as one long series, alternating. The ratio is
the time of the list over that of the series: 1 means that recordings cost nothing.
"""

from __future__ import annotations

import argparse

import numpy as np
from timing import interleaved

from axonad import make_detector
from axonad.bench.machine import describe_device
from axonad.data.telemetry import generate_telemetry

QUICK = {"d_model": 32, "heads": 4, "epochs": 3, "device": "cpu", "verbose": False}
DETECTORS = {
    "PCA": {"window": 20},
    "IForest": {"window": 20},
    "KMeansAD": {},
    "WindowStatistics": {},
    "ControlChart": {},
    "Forecast": {},
    "Relation": {},
    "ShapeMemory": {},
    "Network": QUICK,
}
FIRST_SEED = 100  # of the drives; those of benchmarks begin at 2024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=10)
    parser.add_argument("--rows", type=int, default=2_000, help="rows of each recording")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--detectors", nargs="+", default=list(DETECTORS))
    args = parser.parse_args()
    drives = [
        generate_telemetry(steps=args.rows, seed=FIRST_SEED + number).values
        for number in range(args.recordings)
    ]
    joined = np.concatenate(drives)
    size = f"{args.recordings} x {args.rows} rows, {joined.shape[1]} channels"
    print(f"{describe_device('cpu')}; {size}\n")
    print("| detector | one series (s) | recordings (s) | ratio |")
    print("|---|---:|---:|---:|")
    for name in args.detectors:
        ways = {
            "one": lambda name=name: make_detector(name, **DETECTORS[name]).fit(joined),
            "many": lambda name=name: make_detector(name, **DETECTORS[name]).fit(drives),
        }
        seconds = interleaved(ways, repeats=args.repeats, device="cpu")
        one, many = seconds["one"], seconds["many"]
        print(f"| {name} | {one:.2f} | {many:.2f} | {many / one:.2f} |", flush=True)


if __name__ == "__main__":
    main()
