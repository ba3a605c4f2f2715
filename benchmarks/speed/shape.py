"""What the shape memory costs: a row beside one of AxonAD, fewer training windows, a long series.

    cd benchmarks/speed
    OMP_NUM_THREADS=1 python shape.py rows
    OMP_NUM_THREADS=1 python shape.py windows TSB-AD-M.zip
    OMP_NUM_THREADS=1 python shape.py long

``rows`` fits all views and AxonAD on generated series and measures a row of a live stream and a row
of a recorded series, alternating between them. ``windows`` prints VUS-PR on the tuning series of
TSB-AD for several numbers of training windows (causal: fitted on the training prefix, the whole
series is scored, scores at the centre). ``long`` fits 400,000 x 50 in a process of its own and
prints the time and the peak memory above that before the fit.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from timing import interleaved

import axonad
from axonad import Session, make_detector
from axonad.data.tsb_ad import list_series, read_series
from axonad.detector import Detector
from axonad.views.shape import ShapeMemory

VIEWS = ("ShapeMemory", "Forecast", "Relation")
BLOCK = 20  # live rows per measurement
BATCH = 1000  # recorded rows per measurement


def make_series(rows: int, channels: int, *, seed: int = 0, first: int = 0) -> np.ndarray:
    """Sums of three sines per channel, the same for every ``seed`` of the noise."""
    waves, noise = np.random.default_rng(channels), np.random.default_rng(seed)
    parts = [(waves.uniform(20, 200, channels), waves.uniform(0, 6, channels)) for _ in range(3)]
    X = 0.1 * noise.normal(size=(rows, channels))
    for start in range(0, rows, 20_000):
        steps = np.arange(first + start, first + min(start + 20_000, rows))[:, None]
        for period, phase in parts:
            X[start : start + 20_000] += np.sin(2 * np.pi * steps / period + phase)
    return X


def operations(detector: ShapeMemory, channels: int) -> tuple[float, float]:
    """Return multiplications and additions per live row, in millions: points and search."""
    points = search = 0
    for part in detector._parts:
        points += 2 * part.length * channels * len(part.space.directions)
        cells = len(part.memory.bounds) - 1
        compared = cells + part.memory.near * len(part.memory.points) / cells
        search += 2 * compared * (len(part.space.directions) + 2)
    return points / 1e6, search / 1e6


def pusher(detector: Detector, X: np.ndarray) -> Callable[[], None]:
    """Return a function that pushes the next rows to a stream that has its window."""
    session, position = Session(detector), 0

    def push(rows: int = BLOCK) -> None:
        nonlocal position
        for _ in range(rows):
            session.push(X[position % len(X)])
            position += 1

    push(detector.history)
    return push


def rows(channels: list[int], train: int) -> None:
    print("| channels | detector | live row (us) | to AxonAD | recorded row (us) | to AxonAD |")
    print("|---:|---|---:|---:|---:|---:|")
    for count in channels:
        X, Y = make_series(train, count), make_series(5000, count, seed=1, first=train)
        fitted = {name: make_detector(name).fit(X) for name in VIEWS}
        fitted["AxonAD"] = make_detector("AxonAD", epochs=1, device="cpu", verbose=False).fit(
            X[:2000]
        )
        live = interleaved(
            {name: pusher(each, Y) for name, each in fitted.items()}, repeats=60, device="cpu"
        )
        ways = {n: partial(d.decision_function, Y[:BATCH]) for n, d in fitted.items()}
        batch = interleaved(ways, repeats=5, device="cpu")
        for name in fitted:
            cells = [
                f"{1e6 * taken[name] / size:.0f} | {taken[name] / taken['AxonAD']:.2f}"
                for taken, size in ((live, BLOCK), (batch, BATCH))
            ]
            print(f"| {count} | {name} | {' | '.join(cells)} |", flush=True)
        found = fitted["ShapeMemory"]
        points, search = operations(found, count)
        print(f"ShapeMemory, lengths {found.lengths_}, {train} training rows: {points:.1f} million "
              f"operations per row for the points, {search:.1f} for the search")  # fmt: skip


def windows(source: str, numbers: list[int]) -> None:
    print(f"| series | {' | '.join(f'{n:,} windows' for n in numbers)} |")
    print(f"|---|{'---:|' * len(numbers)}")
    names = [name for name in list_series(source) if name.is_tuning]
    found = []
    for name, series in zip(names, read_series(source, names), strict=True):
        quality = []
        for number in numbers:
            detector = make_detector("ShapeMemory", max_train=number)
            scores = detector.fit(series.values[: name.train_rows]).decision_function(series.values)
            found_here = axonad.evaluate(scores, series.labels, metrics=["VUS-PR"])
            quality.append(found_here["VUS-PR"])
        found.append(quality)
        print(f"| {name.name} | {' | '.join(f'{q:.4f}' for q in quality)} |", flush=True)
    print(f"| mean | {' | '.join(f'{q:.4f}' for q in np.mean(found, axis=0))} |")


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def long(count: int, channels: int, device: str) -> None:
    X = make_series(count, channels)
    print(f"{count:,} x {channels}, {X.nbytes / 2**20:.0f} MiB", flush=True)
    before, clock, cpu = peak(), time.perf_counter(), time.process_time()
    make_detector("ShapeMemory", device=device).fit(X)
    taken, cpu = time.perf_counter() - clock, time.process_time() - cpu
    print(f"fit {taken:.0f} s, {cpu:.0f} s of CPU time, {peak() - before:.0f} MiB more at the peak")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["rows", "windows", "long"])
    parser.add_argument("source", nargs="?", help="archive of TSB-AD, for windows")
    parser.add_argument("--channels", type=int, nargs="+")
    parser.add_argument("--train", type=int, default=46_200, help="training rows, for rows")
    parser.add_argument("--numbers", type=int, nargs="+", default=[1000, 5000, 46_000])
    parser.add_argument("--rows", type=int, default=400_000, help="rows, for long")
    parser.add_argument("--device", default="cpu", help="for long")
    parser.add_argument("--here", action="store_true", help="long: in this process")
    given = parser.parse_args()
    if given.what == "rows":
        rows(given.channels or [2, 19], given.train)
    elif given.what == "windows":
        if given.source is None:
            parser.error("windows needs the archive of TSB-AD")
        windows(given.source, given.numbers)
    elif given.here:
        long(given.rows, (given.channels or [50])[0], given.device)
    else:
        subprocess.run([sys.executable, *sys.argv, "--here"], check=True)


if __name__ == "__main__":
    main()
