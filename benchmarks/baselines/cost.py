"""Measure time and memory of the detectors, each in its own process.

    OMP_NUM_THREADS=1 python benchmarks/baselines/cost.py
    OMP_NUM_THREADS=1 python benchmarks/baselines/cost.py --rows 200000 \\
        --detectors KNN LOF RobustPCA
    OMP_NUM_THREADS=1 python benchmarks/baselines/cost.py --networks --timed 2500

The series is a random walk of coupled channels with noise. Each detector is fitted on the whole
series and scores all of it. By default it is as long as the longest server series of TSB-AD. Times
are CPU times. Memory is the peak of the process minus what it held after importing the libraries
and generating the series.

For neural detectors one epoch is timed: the fit minus the scoring at its end. ``--timed`` times
them on that many rows and scales the result to ``--rows``; the time of an epoch and of scoring is
linear in the number of rows. The memory shown is that of the rows timed; it hardly depends on
their number.
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

NETWORKS = (
    "AutoEncoder", "USAD", "CNN", "FITS", "Donut", "M2N2", "GDN", "LSTMAD", "TranAD",
    "OmniAnomaly", "VASP", "WVAE", "VSVAE", "SISVAE", "AnomalyTransformer", "TFTResidual",
    "MAVAE", "TimesNet", "AxonAD",
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
    if "epochs" in params:  # a neural detector: exclude the loading of its libraries
        axonad.make_detector(name, **params).fit(X[:300])
    detector = axonad.make_detector(name, **params)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    detector.fit(X)
    fitted = time.process_time()
    new = X + 1e-9  # KNN and LOF would recognise the fitted array
    began = time.process_time()
    detector.decision_function(new)
    ended = time.process_time()
    return {
        "fit": fitted - started,
        "score": ended - began,
        "memory": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held) / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=25_000)
    parser.add_argument("--channels", type=int, default=38)
    parser.add_argument("--detectors", nargs="+")
    parser.add_argument("--networks", action="store_true", help="time one epoch per network")
    parser.add_argument("--timed", type=int, help="rows to time; results are scaled up to --rows")
    parser.add_argument("--params", type=json.loads, default={}, help="detector parameters as JSON")
    parser.add_argument("--here", action="store_true", help="measure in this process")
    args = parser.parse_args()
    if args.here:
        print(json.dumps(measure(args.detectors[0], args.rows, args.channels, args.params)))
        return
    if args.networks:
        args.params |= {"epochs": 1, "device": "cpu", "verbose": False}
    names = args.detectors or (NETWORKS if args.networks else DETECTORS)
    rows = args.timed or args.rows
    print(f"{args.rows} x {args.channels} {args.params or ''}")
    what = "epoch" if args.networks else "fit"
    print(f"| detector | {what} s | score s | memory MB |\n|---|---|---|---|")
    for name in names:
        done = subprocess.run(
            [sys.executable, __file__, "--here", "--detectors", name, "--rows", str(rows),
             "--channels", str(args.channels), "--params", json.dumps(args.params)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = json.loads(done.stdout)
        fit, score = (found[part] * args.rows / rows for part in ("fit", "score"))
        fit -= score if args.networks else 0.0
        print(f"| {name} | {fit:.1f} | {score:.1f} | {found['memory']:.0f} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
