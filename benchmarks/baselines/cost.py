"""Time and memory of the classical detectors, each in a process of its own.

    OMP_NUM_THREADS=1 python benchmarks/baselines/cost.py
    OMP_NUM_THREADS=1 python benchmarks/baselines/cost.py --rows 200000 \\
        --detectors KNN LOF RobustPCA

The series is a random walk of coupled channels with noise, fitted on and scored whole: as long as
the longest server series of TSB-AD by default. Memory is the process's peak less what it held
after importing and making the series.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

DETECTORS = (
    "KMeansAD", "PCA", "CBLOF", "IForest", "RobustPCA", "EIF", "COPOD", "HBOS", "KNN", "LOF",
    "ControlChart", "CrossChannelRidge", "WindowStatistics", "RandomScore",
)  # fmt: skip


def make_series(rows: int, channels: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    hidden = np.cumsum(rng.normal(size=(rows, 5)), axis=0) / 30
    hidden += np.sin(np.arange(rows)[:, None] / np.array([7, 30, 100, 288, 1440]))
    return hidden @ rng.normal(size=(5, channels)) + 0.1 * rng.normal(size=(rows, channels))


def measure(name: str, rows: int, channels: int, params: dict[str, object]) -> dict[str, object]:
    import importlib

    import axonad

    for module in ("cluster", "tree", "neighbors"):
        importlib.import_module(f"sklearn.{module}")
    X = make_series(rows, channels)
    detector = axonad.make_detector(name, **params)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    detector.fit(X)
    fitted = time.perf_counter()
    new = X + 1e-9  # not the fitted array itself: the neighbour search must run
    began = time.perf_counter()
    detector.decision_function(new)
    ended = time.perf_counter()
    return {
        "fit": fitted - started,
        "score": ended - began,
        "memory": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held) / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=25_000)
    parser.add_argument("--channels", type=int, default=38)
    parser.add_argument("--detectors", nargs="+", default=DETECTORS)
    parser.add_argument("--params", type=json.loads, default={}, help="as JSON")
    parser.add_argument("--here", action="store_true", help="measure in this process")
    args = parser.parse_args()
    if args.here:
        print(json.dumps(measure(args.detectors[0], args.rows, args.channels, args.params)))
        return
    print(f"{args.rows} x {args.channels} {args.params or ''}")
    print("| detector | fit s | score s | memory MB |\n|---|---|---|---|")
    for name in args.detectors:
        done = subprocess.run(
            [sys.executable, __file__, "--here", "--detectors", name, "--rows", str(args.rows),
             "--channels", str(args.channels), "--params", json.dumps(args.params)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = json.loads(done.stdout)
        print(f"| {name} | {found['fit']:.1f} | {found['score']:.1f} | {found['memory']:.0f} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
