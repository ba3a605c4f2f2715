"""AxonAD on the generated streams: the telemetry stand-in and the coordination suite.

python benchmarks/telemetry/telemetry.py --seeds 2024 2025 2026 2027 --out rows.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from axonad import AxonAD, __version__, evaluate
from axonad.data.telemetry import Telemetry, generate_coordination, generate_telemetry

SUITES = {"telemetry": generate_telemetry, "coordination": generate_coordination}
MODES = {"paper": AxonAD.paper, "causal": AxonAD}
GAP = 25  # alarms at most this far apart are one event
NEAR = 50  # an alarm this close to a fault is no false alarm: half a window


def run_one(suite: str, mode: str, seed: int, device: str) -> dict[str, object]:
    drive = SUITES[suite](seed=seed)
    started = time.perf_counter()
    detector = MODES[mode](seed=seed, device=device, verbose=False).fit(drive.train)
    fitted = time.perf_counter()
    parts = detector.components(drive.test)
    scored = time.perf_counter()
    scores = sum(parts.values())
    result = evaluate(scores, drive.test_labels)
    row: dict[str, object] = {"suite": suite, "mode": mode, "seed": seed, "window": result.window}
    row |= {name: round(value, 6) for name, value in result.items()}
    for name, values in parts.items():
        only = evaluate(values, drive.test_labels, metrics=["VUS-PR"])
        row[f"VUS-PR {name}"] = round(only["VUS-PR"], 6)
    return row | count_alarms(drive, scores > detector.threshold_, detector) | {
        "epochs": detector.training_.epochs,
        "fit_seconds": round(fitted - started, 2),
        "score_seconds": round(scored - fitted, 2),
        "version": __version__,
    }  # fmt: skip


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
        for suite in args.suites:
            for mode in args.modes:
                for seed in args.seeds:
                    row = run_one(suite, mode, seed, args.device)
                    writer = csv.DictWriter(file, row)
                    if file.tell() == 0:
                        writer.writeheader()
                    writer.writerow(row)
                    file.flush()
                    print(suite, mode, seed, row["VUS-PR"], row["found"], row["false alarms"])


if __name__ == "__main__":
    main()
