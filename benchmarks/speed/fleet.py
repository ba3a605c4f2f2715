"""Measure M separate fits against one ``fit_many`` on one device.

    python benchmarks/speed/fleet.py --device cuda
    OMP_NUM_THREADS=1 python benchmarks/speed/fleet.py --device cpu --small

Every model has its own simulated series and seed. All train for the same number of epochs, so both
sides make the same steps, validate the same windows and score the same training series. At most
``--separate`` separate fits are timed, and their time is scaled to M (marked ~), since all fits
cost the same. A first, untimed fit of each kind loads the libraries. ``--small`` uses the network
of the tests, the only size that gains from a stack on a CPU; the default network is fitted one by
one there.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from axonad import AxonAD, fit_many

SIZES = (1, 4, 16, 64)
SMALL = {"window": 16, "d_model": 16, "heads": 2, "tail": 4, "batch_size": 64}


def make_series(rows: int, channels: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    phase = np.arange(rows)[:, None] / (5 + seed % 7) + np.arange(channels)
    return np.sin(phase) + 0.05 * rng.normal(size=(rows, channels))


def make_detectors(count: int, args: argparse.Namespace) -> list[AxonAD]:
    shape = SMALL if args.small else {}
    return [
        AxonAD(
            **shape,
            epochs=args.epochs,
            patience=args.epochs,
            seed=seed,
            device=args.device,
            verbose=False,
        )
        for seed in range(count)
    ]


def timed(work, device: str) -> float:
    """Return the seconds that ``work`` takes, including its pending work on the device."""
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    wait()
    begin = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--models", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--channels", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--separate", type=int, default=8, help="time at most this many fits")
    parser.add_argument("--small", action="store_true", help="use the small network of the tests")
    parser.add_argument("--tf32", action="store_true", help="allow TF32 in matrix products")
    args = parser.parse_args()
    if args.tf32:
        torch.set_float32_matmul_precision("high")

    data = [make_series(args.rows, args.channels, seed) for seed in range(max(args.models))]
    warm = make_detectors(3, args)
    warm[0].fit(data[0][:400])
    fit_many(warm[1:], [X[:400] for X in data[1:3]] if len(data) > 2 else [data[0][:400]] * 2)

    shape = "small network" if args.small else "default network"
    print(f"{args.device}, {shape}, {args.rows} rows, {args.channels} channels, ", end="")
    print(f"{args.epochs} epochs, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    print("| models | separate fits (s) | fit_many (s) | ratio |")
    print("|---:|---:|---:|---:|")
    for count in args.models:
        some = min(count, args.separate)
        alone = make_detectors(some, args)
        pairs = list(zip(alone, data, strict=False))
        separate = timed(lambda: [d.fit(X) for d, X in pairs], args.device) * count / some  # noqa: B023
        together = make_detectors(count, args)
        stacked = timed(lambda: fit_many(together, data[:count]), args.device)  # noqa: B023
        mark = "~" if some < count else ""
        ratio = f"{separate / stacked:.2f}"
        print(f"| {count} | {mark}{separate:.2f} | {stacked:.2f} | {mark}{ratio} |", flush=True)


if __name__ == "__main__":
    main()
