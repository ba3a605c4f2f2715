"""Measure rows per second of a fleet without and with alarms, and the states of its vehicles.

    OMP_NUM_THREADS=1 python -W ignore benchmarks/speed/fleet_alarms.py

Every vehicle drives its own part of one simulated drive of 19 channels, one row with its time per
push. Two kinds of rows: normal ones (of another normal drive), and those of a drive with faults,
in which a row of an event costs more, since its channels are blamed. Times are CPU times of one
core; ``naive`` judges every row at once, as before rows could wait. A state is that of
``Fleet.state``, as JSON text.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from axonad import Fleet, make_detector
from axonad.alarms.data_watch import DataWatch
from axonad.alarms.drift import DriftWatch
from axonad.data.telemetry import generate_telemetry

STEP = 0.1  # seconds
CHUNK = 50  # rows of each fleet in turn, so that all three meet the same load of the machine
STATES: list[str] = []
DETECTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "Forecast": ("Forecast", {}),
    "MultiView, forecast and relation": ("MultiView", {"views": ("forecast", "relation")}),
    "MultiView without network": ("MultiView", {"views": ("shape", "forecast", "relation")}),
}


@dataclass
class Drive:
    """A fleet whose vehicles are at different places of one drive."""

    fleet: Fleet
    values: np.ndarray
    offsets: list[int]
    at: int = 0

    def go(self, rows: int) -> float:
        """Push so many rows of all vehicles; return the CPU time of one row in µs."""
        spent = 0.0
        for _ in range(rows):
            known = {f"v{i}": self.values[at + self.at] for i, at in enumerate(self.offsets)}
            times = dict.fromkeys(known, self.at * STEP)
            begin = time.process_time()
            self.fleet.push(known, times)
            spent += time.process_time() - begin
            self.at += 1
        return 1e6 * spent / (rows * len(self.offsets))


def push_data(watch: DataWatch, values: Any, *, time: Any = None) -> Any:
    return watch.push_many(np.asarray(values)[None], times=[time])


def push_drift(watch: DriftWatch, values: Any, score: float, *, time: Any = None) -> Any:
    return watch.push_many(np.asarray(values)[None], np.array([score]), times=[time])


def measure(label: str, values: dict[str, np.ndarray], args: argparse.Namespace) -> None:
    name, options = DETECTORS[label]
    budget = {"alarm_budget": "1 per hour", "seconds_per_step": STEP}
    plain = make_detector(name, **options).fit(values["train"])
    alarmed = make_detector(name, **options, **budget).fit(values["train"])
    places = np.random.default_rng(0).integers(0, args.spread, args.vehicles).tolist()
    for kind in ("normal", "with faults"):
        drives = [Drive(Fleet(each), values[kind], places) for each in (plain, alarmed)]
        naive = Drive(Fleet(alarmed), values[kind], places)
        parts = [go_on([*drives, naive], plain.history + 5)]
        parts += [go_on([*drives, naive], CHUNK) for _ in range(args.rows // CHUNK)]
        without, cost, before = np.median(parts[1:], axis=0)
        print(f"| {label} | {kind} | {without:.1f} | {cost:.1f} | {before:.1f} | ", end="")
        print(f"{cost / without:.1f} | {before / cost:.1f} | {1e6 / cost:,.0f} |", flush=True)
    for what, drive, row in zip(("without", "with"), drives, (without, cost), strict=True):
        begin = time.process_time()
        texts = [drive.fleet.state(vehicle) for vehicle in drive.fleet.vehicles]
        spent = 1e6 * (time.process_time() - begin) / len(texts)
        size = np.mean([len(text) for text in texts]) / 1000
        STATES.append(
            f"| {label} | {what} | {plain.history} | {size:.0f} | {spent:.0f} | {spent / row:.0f} |"
        )


def go_on(drives: list[Drive], rows: int) -> list[float]:
    """Return the costs of rows: without alarms, with them, and with every row judged at once."""
    costs = [drive.go(rows) for drive in drives[:2]]
    with (
        mock.patch.object(DataWatch, "push", push_data),
        mock.patch.object(DriftWatch, "push", push_drift),
    ):
        return [*costs, drives[2].go(rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--detectors", nargs="+", default=list(DETECTORS), choices=DETECTORS)
    parser.add_argument("--vehicles", type=int, default=256)
    parser.add_argument("--rows", type=int, default=200, help="rows of each vehicle")
    parser.add_argument("--spread", type=int, default=3000, help="rows between vehicles")
    args = parser.parse_args()
    drive, other = (generate_telemetry(steps=12_000, seed=seed) for seed in (5, 6))
    values = {"train": drive.train, "normal": other.train, "with faults": drive.test}
    print(f"{args.vehicles} vehicles, {drive.train.shape[1]} channels, µs of CPU time per row\n")
    print("| detector | rows | none | alarms | naive | alarms / none | naive / alarms | rows/s |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for label in args.detectors:
        measure(label, values, args)
    print("\n| detector | alarms | history | state (kB) | µs | as many rows |")
    print("|---|---|---:|---:|---:|---:|")
    print("\n".join(STATES))


if __name__ == "__main__":
    main()
