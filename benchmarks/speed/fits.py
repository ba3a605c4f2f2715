"""Seconds of ``fit``: MultiView without and with its network, beside AxonAD.

    python benchmarks/speed/fits.py            # minutes on two cores; keep the machine idle
    python benchmarks/speed/fits.py --quick    # seconds: short series, one epoch

All fits are timed one after the other in one process, in wall-clock time. The first fit of a
process also loads libraries, so the first detector is fitted twice and its second fit counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from axonad import AxonAD, MultiView
from axonad.data.telemetry import generate_telemetry
from axonad.detector import Detector

SEED = 3005  # a drive that no benchmark reports
LIGHT = ("shape", "forecast", "relation")  # the views without a network


@dataclass(frozen=True)
class Fit:
    """A detector and the number of rows it is fitted on."""

    name: str
    rows: int
    make: Callable[[], Detector]


def fits(*, quick: bool) -> list[Fit]:
    """Return what is timed, in order."""
    short, long = (1_000, 4_000) if quick else (10_000, 40_000)
    epochs = 1 if quick else AxonAD().epochs

    def light() -> Detector:
        return MultiView(views=LIGHT, verbose=False)

    def axon() -> Detector:
        return AxonAD(epochs=epochs, verbose=False)

    def every() -> Detector:
        return MultiView(epochs=epochs, verbose=False)

    return [
        Fit("MultiView, without network", short, light),
        Fit("AxonAD", short, axon),
        Fit("MultiView", short, every),
        Fit("AxonAD", long, axon),
    ]


def seconds_of(fit: Fit) -> float:
    """Return how long a fit on the clean half of a generated drive takes."""
    train = generate_telemetry(steps=2 * fit.rows, seed=SEED).train
    detector = fit.make()
    begin = time.perf_counter()
    detector.fit(train)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short series, one epoch")
    chosen = fits(quick=parser.parse_args().quick)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    print(f"warm-up: {seconds_of(chosen[0]):.1f} s")
    taken: dict[tuple[str, int], float] = {}
    for fit in chosen:
        taken[fit.name, fit.rows] = seconds_of(fit)
        print(f"{fit.name}, {fit.rows:,} x 19: {taken[fit.name, fit.rows]:.1f} s", flush=True)
    rows = chosen[0].rows
    ratio = taken["MultiView", rows] / taken["AxonAD", rows]
    print(f"MultiView / AxonAD, {rows:,} x 19: {ratio:.2f}")


if __name__ == "__main__":
    main()
