"""Compare AxonAD with its naive computation and four baselines: same data, same run, as ratios.

    cd benchmarks/speed
    python table.py --device cpu --threads 1 --csv table_cpu.csv
    python table.py --device cuda --csv table_h200.csv

It measures three times per detector: scoring one window, one epoch of ``fit`` (training, scoring
the training series, threshold), and for AxonAD one training step of 128 windows. Every round runs
all of them; the result is the median of the rounds. Only ratios within one run are meaningful. With
``--threads 1`` on a CPU, times are CPU times; with more threads they are wall-clock times, which on
a busy machine mostly measure waiting.
"""

from __future__ import annotations

import argparse
import copy
import csv
from pathlib import Path

import numpy as np
import torch
from naive import BATCH, score, train
from timing import interleaved

from axonad import AxonAD, make_detector
from axonad.bench.machine import commit, describe_device
from axonad.data.recordings import Recordings
from axonad.errors import AxonADError

BASELINES = ("USAD", "TranAD", "OmniAnomaly", "IForest")
CHANNELS, WINDOW = 19, 100
FLOORS = {
    "cpu": "targets: scoring >= 2.3x and a training step >= 1.5x the naive computation; "
    "44 MFLOP a window at 150 GFLOP/s on two cores are 290 us",
    "cuda": "targets: <= 1.0 us a window scored, <= 1.0 ms a training step",
}


def make_series(rows: int, channels: int = CHANNELS) -> np.ndarray:
    rng = np.random.default_rng(0)
    phase = np.arange(rows)[:, None] / 7 + np.arange(channels)
    return np.sin(phase) + 0.1 * rng.normal(size=(rows, channels))


def fit_baselines(device: str, epochs: int, X: np.ndarray) -> tuple[dict, list[str]]:
    """Return the fitted baselines, and the reasons why others are missing."""
    found, missing = {}, []
    for name in BASELINES:
        try:
            detector = make_detector(name)
            if "device" in detector.get_params():
                detector.set_params(device=device, epochs=epochs, validation=0.0, verbose=False)
            found[name] = detector.fit(X)
        except (ImportError, AxonADError) as error:
            missing.append(f"{name}: {str(error).splitlines()[0]}")
    return found, missing


def check(detector: AxonAD, X: np.ndarray, series: torch.Tensor) -> float:
    """Return the largest relative difference between our terms and the naive ones."""
    ours = detector.window_terms(X).terms
    pairs = zip(score(detector.net_, series), ("d_rec", "d_q"), strict=True)
    return max(
        float(np.max(np.abs(ours[name] / naive.double().cpu().numpy() - 1)))
        for naive, name in pairs
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rows", type=int, help="rows to score (2,147 on cpu, 40,000 on cuda)")
    parser.add_argument("--steps", type=int, help="training steps (4 on cpu, 300 on cuda)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--csv", type=Path, help="also append the rows to this file")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    on_gpu = args.device.startswith("cuda")
    rows = args.rows or (40_000 if on_gpu else 2_147)
    steps = args.steps or (300 if on_gpu else 4)
    X, learnt = make_series(rows), make_series(steps * BATCH + WINDOW - 1)

    def ours() -> AxonAD:
        return AxonAD(epochs=1, validation=0.0, device=args.device, verbose=False)

    detector = ours().fit(learnt)
    series, short = (detector.scaled(part, torch.device(args.device)) for part in (X, learnt))
    twin = copy.deepcopy(detector.net_)
    trained = copy.deepcopy(detector.net_).requires_grad_(True)
    trained.target.requires_grad_(False)
    baselines, missing = fit_baselines(args.device, 1, learnt)

    scoring = {
        "AxonAD": lambda: detector.decision_function(X),
        "naive": lambda: score(twin, series),
    }
    fitting = {
        "AxonAD": lambda: ours().fit(learnt),
        "naive": lambda: (train(trained, short), score(trained, short)),
    }
    stepping = {
        "AxonAD": lambda: ours().train(learnt, None, Recordings.one(len(learnt))),
        "naive": lambda: train(trained, short),
    }
    for name, baseline in baselines.items():
        scoring[name] = lambda other=baseline: other.decision_function(X)
        fitting[name] = lambda other=baseline: type(other)(**other.get_params()).fit(learnt)
    repeats = {"repeats": args.repeats, "device": args.device}
    per = {
        "score a window (us)": (interleaved(scoring, **repeats), 1e6 / (rows - WINDOW + 1)),
        "a training step (ms)": (interleaved(stepping, **repeats), 1e3 / steps),
        "fit, one epoch (s)": (interleaved(fitting, **repeats), 1.0),
    }
    where = f"{describe_device(args.device)}, {args.threads} threads, torch {torch.__version__}"
    print(f"{where}, {CHANNELS} channels, {rows} rows scored, {steps} steps trained")
    print(f"{FLOORS['cuda' if on_gpu else 'cpu']}")
    print(f"largest relative difference from naive scores: {check(detector, X, series):.1e}")
    for line in missing:
        print(f"left out: {line}")
    show(per)
    if args.csv:
        write(args.csv, per, where)


def show(per: dict[str, tuple[dict[str, float], float]]) -> None:
    names = list(next(iter(per.values()))[0])
    print("\n| | " + " | ".join(f"{what} | ratio" for what in per) + " |")
    print("|---|" + "---:|---:|" * len(per))
    for name in names:
        cells = []
        for seconds, scale in per.values():
            if name in seconds:
                ratio = seconds[name] / seconds["AxonAD"]
                cells += [f"{seconds[name] * scale:.3g}", f"{ratio:.2f}"]
            else:
                cells += ["", ""]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print("\nratio: time divided by AxonAD's in the same run; above 1, AxonAD is faster")


def write(path: Path, per: dict[str, tuple[dict[str, float], float]], where: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        out = csv.writer(file)
        if fresh:
            out.writerow(["what", "detector", "value", "ratio", "machine", "commit"])
        for what, (seconds, scale) in per.items():
            for name, value in seconds.items():
                ratio = value / seconds["AxonAD"]
                out.writerow([what, name, f"{value * scale:.4g}", f"{ratio:.3f}", where, commit()])


if __name__ == "__main__":
    main()
