"""What the network's training costs on the suites: release 0.2.0, a first choice, present rows.

    python benchmarks/multiview/choice.py

``choice.csv`` has the VUS-PR of MultiView and Network by release 0.2.0 (its committed rows) and by
the setting that was tried first and given up, ``e12 n500 b64 lr3`` (commit ef0489d, one H200,
2026-11-19). The present rows are those of the suites. The interval is that of the mean difference
between now and 0.2.0 when series are drawn again, 10,000 times.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
DRAWN = 10_000


def read_present(suite: str) -> dict[tuple[str, str, str], float]:
    """Return the VUS-PR of the committed causal rows by label, series and seed."""
    with (HERE.parent / suite / "rows.csv").open(newline="") as file:
        return {
            (row["label"], row["series"], row["seed"]): float(row["VUS-PR"])
            for row in csv.DictReader(file)
            if row["protocol"] == "causal" and row["status"] == "ok"
        }


def main() -> None:
    groups: dict[tuple[str, str, str], list[tuple[float, float, float]]] = defaultdict(list)
    present: dict[str, dict[tuple[str, str, str], float]] = {}
    with (HERE / "choice.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            suite = row["suite"]
            now = present.setdefault(suite, read_present(suite))
            key = row["label"], row["series"], row["seed"]
            values = float(row["release"]), float(row["first"]), now[key]
            groups[suite, row["split"], row["label"]].append(values)
    print("| suite | | series | 0.2.0 | first choice | now | now - 0.2.0 | 95 % interval |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for (suite, split, label), values in groups.items():
        found = np.array(values)
        release, first, now = found.mean(axis=0)
        change = found[:, 2] - found[:, 0]
        drawn = np.random.default_rng(0).integers(len(change), size=(DRAWN, len(change)))
        low, high = np.quantile(change[drawn].mean(axis=1), (0.025, 0.975))
        print(
            f"| {suite} {split} | {label} | {len(found)} | {release:.3f} | {first:.3f} | "
            f"{now:.3f} | {now - release:+.3f} | {low:+.3f} to {high:+.3f} |"
        )


if __name__ == "__main__":
    main()
