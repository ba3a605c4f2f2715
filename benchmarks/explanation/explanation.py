"""How well events are explained: channels, kind and counterfactual, on drives with planted faults.

    python benchmarks/explanation/explanation.py --seeds 2024-2027 --out benchmarks/explanation

Every fault that a detector finds counts once, by the strongest event that overlaps it. Beside each
figure stands what chance gives. ``--detectors CrossChannelRidge`` runs in minutes on a CPU;
AxonAD and MultiView train networks, with ``--device cuda`` on a GPU.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import defaultdict
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from axonad import load, make_detector
from axonad.data.series import Series
from axonad.data.telemetry import PlantedEvent, Telemetry, generate_coordination, generate_telemetry
from axonad.explain import KINDS, Scene, score_with
from axonad.threshold import Event

SUITES = {"telemetry": generate_telemetry, "coordination": generate_coordination}
KIND_OF = {
    "flatline": "frozen", "level_shift": "shifted", "drift": "drifting", "spike": "spiking",
    "variance_jump": "noisy", "correlation_break": "wrong relation",
}  # fmt: skip
DETECTORS = ("CrossChannelRidge", "AxonAD", "MultiView")
MEASURES = ("hit@1", "hit@3", "rank", "vanishes", "kind")
COLUMNS = (
    "suite", "seed", "detector", "fault", "planted", "start", "end", "blame", "channels", "named",
    "vanishes", "vanishes_random", "seconds",
)  # fmt: skip


def measure_drive(detector: Any, drive: Telemetry, suite: str) -> list[dict[str, Any]]:
    """Return one row for each fault that the detector finds."""
    X = Series(values=drive.test, channels=drive.channels)
    found = detector.explain(X)
    events = found.events(gap=detector.history // 4, top=len(drive.channels))
    rng, rows, scene = np.random.default_rng(drive.seed), [], detector.scene(X)
    for fault in drive.events:
        start, end = fault.start - drive.train_end, fault.end - drive.train_end
        own = [event for event in events if event.start < end and event.end > start]
        if not own:
            continue
        event = max(own, key=lambda event: event.score)
        began = time.process_time()
        why = found.explained([event])[0].why
        assert why is not None
        rows.append({
            "suite": suite, "seed": drive.seed, "detector": type(detector).__name__,
            "fault": fault.kind, "planted": " ".join(fault.channels), "start": start, "end": end,
            "blame": " ".join(event.channels), "channels": " ".join(why.channels),
            "named": why.kind, "vanishes": int(why.counterfactual.vanishes),
            "vanishes_random": int(vanishes_by_chance(scene, event, fault, rng)),
            "seconds": round(time.process_time() - began, 2),
        })  # fmt: skip
    print(f"{type(detector).__name__} {suite} {drive.seed}: {len(rows)} of {len(drive.events)}")
    return rows


def vanishes_by_chance(
    scene: Scene, event: Event, fault: PlantedEvent, rng: np.random.Generator
) -> bool:
    """Whether the event vanishes with as many channels as were planted, drawn at random."""
    drawn = rng.choice(scene.labels, size=len(fault.channels), replace=False).tolist()
    return score_with(scene, event, drawn) <= scene.threshold


def fit(name: str, drive: Telemetry, device: str | None, models: Path | None) -> Any:
    """Return the detector, fitted on the clean half, which is the same in both suites."""
    kept = None if models is None else models / f"{name}-{drive.seed}-{len(drive.values)}"
    if kept is not None and kept.exists():
        return load(kept)
    detector = make_detector(name)
    params = detector.get_params()
    if device is not None and "device" in params:
        detector.set_params(device=device)
    if "verbose" in params:
        detector.set_params(verbose=False)
    detector.fit(Series(values=drive.train, channels=drive.channels))
    if kept is not None:
        detector.save(kept)
    return detector


# -- figures -------------------------------------------------------------------------------------


def figures(rows: list[dict[str, Any]], ranking: str, channels: int) -> dict[str, float]:
    """Return the means of all measures, with the channels ranked as in this column."""
    values = defaultdict(list)
    for row in rows:
        planted, ranked = row["planted"].split(), row[ranking].split()
        hits = [i for i, name in enumerate(ranked, 1) if name in planted]
        others = len(ranked) + (channels - len(ranked) + 1) / (len(planted) + 1)
        values["hit@1"].append(bool(hits) and hits[0] == 1)
        values["hit@3"].append(bool(hits) and hits[0] <= 3)
        values["rank"].append(hits[0] if hits else others)
        if ranking == "channels":
            values["vanishes"].append(int(row["vanishes"]))
            values["kind"].append(row["named"] == KIND_OF[row["fault"]])
    return {name: float(np.mean(found)) for name, found in values.items()}


def chance(rows: list[dict[str, Any]], channels: int) -> dict[str, float]:
    """Return what a random order, random channels and a random kind would give."""
    counts = [len(row["planted"].split()) for row in rows]
    return {
        "hit@1": float(np.mean([count / channels for count in counts])),
        "hit@3": float(
            np.mean([1 - comb(channels - count, 3) / comb(channels, 3) for count in counts])
        ),
        "rank": float(np.mean([(channels + 1) / (count + 1) for count in counts])),
        "vanishes": float(np.mean([int(row["vanishes_random"]) for row in rows])),
        "kind": 1 / (len(KINDS) - 1),
    }


def table(rows: list[dict[str, Any]], channels: int) -> str:
    """Return the results as a Markdown table."""
    lines = ["| suite | detector | faults | ranking | " + " | ".join(MEASURES) + " |"]
    lines.append("|---|---|---|---|" + "---|" * len(MEASURES))
    groups = defaultdict(list)
    for row in rows:
        groups[row["suite"], row["detector"]].append(row)
    for (suite, detector), own in sorted(groups.items()):
        parts = (
            ("blame", figures(own, "blame", channels)),
            ("explained", figures(own, "channels", channels)),
            ("chance", chance(own, channels)),
        )
        for name, values in parts:
            cells = [f"{values[m]:.2f}" if m in values else "" for m in MEASURES]
            lines.append(f"| {suite} | {detector} | {len(own)} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def confusion(rows: list[dict[str, Any]]) -> str:
    """Return how often each planted kind was given each name, as a Markdown table."""
    names = [kind for kind in KINDS if any(row["named"] == kind for row in rows)]
    lines = ["| planted | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for fault in KIND_OF:
        counts = [sum(r["fault"] == fault and r["named"] == name for r in rows) for name in names]
        lines.append(f"| {fault} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="3001-3002", help="first and last seed of the drives")
    parser.add_argument("--steps", type=int, default=80_000)
    parser.add_argument("--detectors", default=",".join(DETECTORS))
    parser.add_argument("--device")
    parser.add_argument("--models", type=Path, help="folder of fitted detectors, to use again")
    parser.add_argument("--out", type=Path, help="folder; faults.csv in it is extended")
    parser.add_argument("--table", action="store_true", help="only show the rows already there")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    path = None if given.out is None else given.out / "faults.csv"
    if path is not None and path.exists():
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
    first, _, last = given.seeds.partition("-")
    for seed in [] if given.table else range(int(first), int(last or first) + 1):
        drives = {name: make(steps=given.steps, seed=seed) for name, make in SUITES.items()}
        for name in given.detectors.split(","):
            detector = fit(name, drives["telemetry"], given.device, given.models)
            for suite, drive in drives.items():
                assert np.array_equal(drive.train, drives["telemetry"].train)
                rows += measure_drive(detector, drive, suite)
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("w", newline="") as file:
                    writer = csv.DictWriter(file, COLUMNS)
                    writer.writeheader()
                    writer.writerows(rows)
    print(table(rows, 19), confusion(rows), sep="\n\n")
    seconds = [float(row["seconds"]) for row in rows]
    print(f"\nCPU time of an explanation: median {np.median(seconds):.2f} s")


if __name__ == "__main__":
    main()
