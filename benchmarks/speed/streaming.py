"""Measure one streaming step: the naive full computation, one stream, and fleets in batches.

    OMP_NUM_THREADS=1 python benchmarks/speed/streaming.py --device cpu --csv streaming.csv
    python benchmarks/speed/streaming.py --device cuda --csv streaming_cuda.csv

``naive`` keeps the last T rows; for every sample it scales them and computes the whole window, all
steps of it, with ``AxonNet.forward``. ``plain`` does the same through ``decision_function``, which
computes only the last steps of predictor and target. ``single`` is ``Session.push`` and
``fleet N`` is ``Fleet.push`` with N vehicles: from a row to a result, including the handling
of missing values.

All methods run blocks of steps alternately in one process, so that all see the same load, and
their scores are compared on the same rows. The time per sample is the time of a step divided by the
number of vehicles; ratios are of medians, relative to the naive method. On a busy machine long
steps are interrupted more often than short ones, so the CPU time of the calling thread and its
ratio are the fairer figures there. Use one thread, so that it covers all of the work.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from axonad import AxonAD, Fleet, Session
from axonad.score.standardise import combine
from axonad.score.terms import TERMS
from axonad.stream import Step

COLUMNS = (
    "way", "vehicles", "steps", "p50_ms", "p99_ms", "p50_us_per_sample", "ratio", "cpu_p50_ms",
    "cpu_ratio",
)  # fmt: skip


def make_series(rows: int, channels: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    phase = np.arange(rows)[:, None] / (5 + seed % 7) + np.arange(channels)
    return np.sin(phase) + 0.05 * rng.normal(size=(rows, channels))


class Windows:
    """The naive and the plain method: keep the last rows and score the whole window."""

    def __init__(self, detector: AxonAD, *, full: bool) -> None:
        self._detector, self._full = detector, full
        self._rows: list[np.ndarray] = []

    def push(self, row: np.ndarray) -> float | None:
        detector = self._detector
        self._rows = [*self._rows[1 - detector.window :], row]
        if len(self._rows) < detector.window:
            return None
        window = np.array(self._rows)
        if not self._full:
            return float(detector.score_ends(window)[0][0])
        net = detector.net_
        with torch.inference_mode():
            x = detector.scaled(window, net.head.weight.device)[None]
            output = net(x)
            terms = {name: term(output, x, net.config).cpu() for name, term in TERMS.items()}
        return float(
            combine({n: detector.scales_[n].apply(t.numpy()) for n, t in terms.items()})[0]
        )


def make_ways(
    detector: AxonAD, X: np.ndarray, fleets: list[int]
) -> dict[str, Callable[[int], object]]:
    """Return for each method a function that pushes the row of step t."""
    naive, plain = Windows(detector, full=True), Windows(detector, full=False)
    single = Session(detector)
    ways: dict[str, Callable[[int], object]] = {
        "naive": lambda t: naive.push(X[t]),
        "plain": lambda t: plain.push(X[t]),
        "single": lambda t: single.push(X[t]),
    }
    for count in fleets:
        fleet, names = Fleet(detector), [f"car {i}" for i in range(count)]

        def push(t: int, fleet: Fleet = fleet, names: list[str] = names) -> object:
            return fleet.push({name: X[t + 7 * i % 500] for i, name in enumerate(names)})["car 0"]

        ways[f"fleet {count}"] = push
    return ways


def measure(
    ways: dict[str, Callable[[int], object]], window: int, seconds: float
) -> dict[str, list[tuple[float, float]]]:
    """Return wall and CPU seconds of the steps of each method, in alternating blocks."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    step = dict.fromkeys(ways, 0)
    scores: dict[str, dict[int, float]] = {name: {} for name in ways}

    def run(name: str, share: float, most: int) -> None:
        begun = time.perf_counter()
        for _ in range(most):
            t, start, cpu = step[name], time.perf_counter(), time.thread_time()
            result = ways[name](t)
            cpu, end = time.thread_time() - cpu, time.perf_counter()
            step[name] += 1
            if t >= window + 10:
                taken[name].append((end - start, cpu))
            score = result.scores[0] if isinstance(result, Step) else result
            if score is not None and not np.isnan(score):
                scores[name][t] = score
            if end - begun > share:
                break

    for name in ways:
        while step[name] < window + 10:
            run(name, 1e9, window + 10 - step[name])
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        for name in ways:
            run(name, 0.05, 25)
    check(scores)
    return taken


def check(scores: dict[str, dict[int, float]]) -> None:
    """Print how far the scores of each method are from those of ``decision_function``."""
    truth = scores["plain"]
    for name, found in scores.items():
        both = [t for t in found if t in truth]
        apart = max(abs(found[t] - truth[t]) / max(1.0, abs(truth[t])) for t in both)
        print(f"{name}: at most {apart:.1e} from decision_function in {len(both)} scores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--channels", type=int, default=19)
    parser.add_argument("--fleets", type=int, nargs="+", default=[1, 32, 256])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    X = make_series(60_000, args.channels, seed=0)
    detector = AxonAD(epochs=2, device=args.device, verbose=False).fit(X[:1500])
    ways = make_ways(detector, X[1000:], args.fleets)
    taken = measure(ways, detector.window, args.seconds)
    base, cpu_base = np.median(taken["naive"], axis=0)
    table = []
    for name, seconds in taken.items():
        vehicles = int(name.split()[1]) if name.startswith("fleet") else 1
        (p50, cpu), p99 = np.median(seconds, axis=0), np.quantile(seconds, 0.99, axis=0)[0]
        table.append(
            (name, vehicles, len(seconds), f"{p50 * 1e3:.3f}", f"{p99 * 1e3:.3f}",
             f"{p50 * 1e6 / vehicles:.1f}", f"{base * vehicles / p50:.2f}",
             f"{cpu * 1e3:.3f}", f"{cpu_base * vehicles / cpu:.2f}")
        )  # fmt: skip
    where = torch.cuda.get_device_name() if args.device == "cuda" else f"{args.threads} CPU thread"
    print(f"\n{where}, {args.channels} channels, default network, torch {torch.__version__}\n")
    print("| method | steps | p50 (ms) | p99 (ms) | sample (µs) | ratio | CPU (ms) | CPU ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for way, _, *figures in table:
        print(f"| {way} | {' | '.join(map(str, figures))} |")
    if args.csv:
        with args.csv.open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *table])


if __name__ == "__main__":
    main()
