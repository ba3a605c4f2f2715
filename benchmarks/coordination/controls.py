"""Measure how visible the coordination breaks are to simple scores, within and across channels.

    python benchmarks/coordination/controls.py --seeds 1 2 3 4 5 6 7 8 2024 2025 2026 2027

Prints pointwise AUC-ROC. The scores are those of tests/data/test_telemetry.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.data import test_telemetry as simple

from axonad.data.telemetry import generate_coordination


def measure(seed: int) -> dict[str, float]:
    stream = generate_coordination(seed=seed)
    labels, clean = stream.test_labels, simple.clean_of(seed)[stream.train_end :]
    row = {
        "ridge across channels": simple.roc_area(
            simple.score_across_channels(stream.train, stream.test), labels
        ),
        "ridge, nothing planted": simple.roc_area(
            simple.score_across_channels(stream.train, clean), labels
        ),
    }
    for name, score in simple.scores_within_channels(stream.train, stream.test).items():
        row[f"{name}: mean"] = simple.roc_area(score.mean(1), labels)
        row[f"{name}: max"] = simple.roc_area(score.max(1), labels)
        row[f"{name}: channel known"] = simple.area_where_struck(score, stream)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", nargs="+", type=int, default=[2024, 2025, 2026, 2027])
    rows = [measure(seed) for seed in parser.parse_args().seeds]
    for name in rows[0]:
        values = [row[name] for row in rows]
        print(f"{name:32} {np.mean(values):.3f} ({min(values):.3f}–{max(values):.3f})")


if __name__ == "__main__":
    main()
