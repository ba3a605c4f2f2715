"""Summer to winter on real drives, with and without the ambient temperature as context.

Fits on one or two of the four summer drives (KIT OBD-II), sets the alarms on the other summer
drives at one false event an hour, and scores the four winter drives: share of steps above the
threshold and events. "held" shows the context at its training median to detectors that condition
on it. Every tenth row is used, about one a second. Prints a Markdown table.

python benchmarks/alarms/context.py ../shared/data/driving-dev.zip
"""

from __future__ import annotations

import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from axonad import make_detector, read
from axonad.alarms.recalibrate import recalibrate
from axonad.data.context_candidates import find_candidates
from axonad.data.series import Series
from axonad.errors import DataWarning

CONTEXT = "Ambient_Air_Temperature"
EVERY = 10
SMALL = {"d_model": 32, "heads": 4, "epochs": 5}  # of the network
COMPARED = ("CrossChannelRidge", "Relation")  # also with the context held at its median
DETECTORS: dict[str, dict[str, Any]] = {
    "PCA": {},
    "CrossChannelRidge": {"smooth": 31},
    "Relation": {},
    "ShapeMemory": {},
    "AxonAD": SMALL | {"verbose": False, "device": "cpu"},
    "MultiView": SMALL | {"verbose": False, "device": "cpu"},
}


def load_drives(path: str) -> dict[str, Series]:
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("KIT-OBD2/"))
        archive.extractall(folder, names)
        drives = [read(Path(folder) / name) for name in names]
    return {drive.name: drive.select(slice(None, None, EVERY)) for drive in drives}


def joined(drives: list[Series]) -> np.ndarray:
    return np.concatenate([drive.values for drive in drives])


def measure(name: str, drives: list[Series], fitted: list[int], how: str) -> str:
    """Return the cells of one row: shares of steps in percent, and events an hour in winter."""
    context = () if how == "no" else (CONTEXT,)
    detector = make_detector(name, **DETECTORS[name], context=context)
    if how == "held":  # what a detector that cannot condition would see
        detector.in_context = lambda X: (
            X if detector.context_ is None else detector.context_.hold(X)
        )
    others = [i for i in range(4) if i not in fitted]
    detector.fit(Series(values=joined([drives[i] for i in fitted]), channels=drives[0].channels))
    rows = [
        Series(values=drive.values, channels=drive.channels, name=drive.name) for drive in drives
    ]
    cells = []
    for is_set in (False, True):
        if is_set:
            setup, _ = recalibrate(
                detector, [rows[i] for i in others], budget="1 per hour", seconds_per_step=1.0
            )
            detector.set_alarms(setup)
        for some in (others, range(4, 8)):
            found = [detector.explain(rows[i], blame=False) for i in some]
            cells.append(f"{100 * np.mean([each.alarms.mean() for each in found]):.1f}")
    hours = sum(len(rows[i]) for i in range(4, 8)) / 3600
    events = sum(len(each.alarm_events(setup.policy)) for each in found)
    return " | ".join([*cells, f"{events / hours:.1f}"])


def main(path: str) -> None:
    warnings.simplefilter("ignore", DataWarning)
    drives = list(load_drives(path).values())
    for some in ([0], [0, 1], [0, 2], range(4), range(8)):
        found = find_candidates([drives[i].values for i in some], drives[0].channels)
        print(f"suggested from drives {list(some)}: {'; '.join(map(str, found)) or 'nothing'}")
    print()
    print("| detector | fitted on | context | summer, fitted threshold | winter | "
          "summer, 1 event an hour | winter | winter, events an hour |")  # fmt: skip
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for name in DETECTORS:
        for fitted in ([0], [0, 2]):
            for how in ("no", "yes", "held") if name in COMPARED else ("no", "yes"):
                cells = measure(name, drives, fitted, how)
                rows = "one drive" if len(fitted) == 1 else "two drives"
                print(f"| {name} | {rows} | {how} | {cells} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
