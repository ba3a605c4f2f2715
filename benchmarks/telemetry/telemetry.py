"""AxonAD on the generated streams: the telemetry stand-in and the coordination suite.

python benchmarks/telemetry/telemetry.py --seeds 2024 2025 2026 2027 --out rows.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from axonad import AxonAD, __version__, evaluate
from axonad.data.telemetry import Telemetry, generate_coordination, generate_telemetry

SUITES = {"telemetry": generate_telemetry, "coordination": generate_coordination}
MODES = {"paper": AxonAD.paper, "causal": AxonAD}
GAP = 25  # alarms at most this far apart are one event
NEAR = 50  # an alarm this close to a fault is no false alarm: half a window


def run_all(suites: list[str], mode: str, seed: int, device: str) -> Iterator[dict[str, object]]:
    """Yield a row per suite; suites with the same clean half share one fit."""
    detector, fitted_on, seconds = None, None, 0.0
    for suite in suites:
        drive = SUITES[suite](seed=seed)
        if fitted_on is None or not np.array_equal(drive.train, fitted_on):
            started = time.perf_counter()
            detector = MODES[mode](seed=seed, device=device, verbose=False).fit(drive.train)
            fitted_on, seconds = drive.train, time.perf_counter() - started
        row: dict[str, object] = {"suite": suite, "mode": mode, "seed": seed}
        yield row | judge(detector, drive) | {"fit_seconds": round(seconds, 2)}


def judge(detector: AxonAD, drive: Telemetry) -> dict[str, object]:
    started = time.perf_counter()
    parts = detector.components(drive.test)
    seconds = time.perf_counter() - started
    scores = sum(parts.values())
    result = evaluate(scores, drive.test_labels)
    row: dict[str, object] = {"window": result.window}
    row |= {name: round(value, 6) for name, value in result.items()}
    for name, values in parts.items():
        only = evaluate(values, drive.test_labels, metrics=["VUS-PR"])
        row[f"VUS-PR {name}"] = round(only["VUS-PR"], 6)
    row |= count_alarms(drive, scores > detector.threshold_, detector)
    row |= {"epochs": detector.training_.epochs, "score_seconds": round(seconds, 2)}
    return row | {"version": __version__}


def count_alarms(drive: Telemetry, alarms: np.ndarray, detector: AxonAD) -> dict[str, int]:
    cut = drive.train_end
    found = sum(bool(alarms[e.start - cut : e.end - cut].any()) for e in drive.events)
    near = np.convolve(drive.test_labels, np.ones(2 * NEAR + 1), "same") > 0
    raised = detector.events(drive.test, gap=GAP)
    false = sum(not near[e.start : e.end].any() for e in raised)
    return {"events": len(drive.events), "found": found, "false alarms": false}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", nargs="+", type=int, default=[2024])
    parser.add_argument("--suites", nargs="+", choices=SUITES, default=list(SUITES))
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    with args.out.open("a", newline="") as file:
        for mode in args.modes:
            for seed in args.seeds:
                for row in run_all(args.suites, mode, seed, args.device):
                    writer = csv.DictWriter(file, row)
                    if file.tell() == 0:
                        writer.writeheader()
                    writer.writerow(row)
                    file.flush()
                    print(
                        *(
                            row[k]
                            for k in ("suite", "mode", "seed", "VUS-PR", "found", "false alarms")
                        )
                    )


if __name__ == "__main__":
    main()
