"""Measure bfloat16 on a CPU: time and change of scores with ``torch.autocast("cpu")``.

    cd benchmarks/speed
    OMP_NUM_THREADS=1 python short.py

A detector is fitted on the first half of a generated drive of 20,000 rows and scores the second
half, alternating between float32 and autocast. For the GPU see ``gpu.py``.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext

import numpy as np
import torch
from timing import interleaved

from axonad import AxonAD
from axonad.bench.machine import describe_device
from axonad.data.telemetry import generate_telemetry
from axonad.metrics import evaluate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[2024, 2025])
    args = parser.parse_args()
    print(f"{describe_device('cpu')}, {torch.get_num_threads()} threads, torch {torch.__version__}")
    print("\nchange: the largest change of each term, in its standard deviations\n")
    print("| seed | dtype | score a window (us) | change of d_rec, d_q | VUS-PR |")
    print("|---:|---|---:|---:|---:|")
    for seed in args.seeds:
        compare(args.rows, args.epochs, seed)


def compare(rows: int, epochs: int, seed: int) -> None:
    drive = generate_telemetry(steps=rows, seed=seed)
    half = rows // 2
    detector = AxonAD(epochs=epochs, seed=seed, device="cpu", verbose=False)
    detector.fit(drive.values[:half])
    X, labels = drive.values[half:], drive.labels[half:]
    found = {}

    def score(name: str, place: object) -> None:
        with place:  # type: ignore[attr-defined]
            found[name] = detector.explain(X, blame=False)

    ways = {
        "float32": lambda: score("float32", nullcontext()),
        "bfloat16": lambda: score("bfloat16", torch.autocast("cpu", dtype=torch.bfloat16)),
    }
    seconds = interleaved(ways, repeats=3, device="cpu")
    exact = found["float32"].components
    for name, result in found.items():
        moved = ", ".join(
            f"{np.max(np.abs(result.components[part] - exact[part])) / np.std(exact[part]):.1e}"
            for part in ("d_rec", "d_q")
        )
        each = seconds[name] / (len(X) - detector.window + 1) * 1e6
        quality = evaluate(result.scores, labels, window=100)["VUS-PR"]
        print(f"| {seed} | {name} | {each:.0f} | {moved} | {quality:.4f} |", flush=True)


if __name__ == "__main__":
    main()
