"""Explained faults in real drives: faults planted into one channel of KIT's OBD-II recordings.

    AXONAD_DATA=.../data python benchmarks/explanation/real_drives.py

The folder holds ``driving-dev.zip``. The first 70 % of a drive are learned from; faults of six
kinds, two units in size and 60 rows long, are planted into the rest, one at a time, in each channel
of which the others explain at least half.
"""

from __future__ import annotations

import io
import os
import warnings
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from axonad import make_detector
from axonad.data.series import Series
from axonad.selftest.kinds import SIZELESS, Place, make_change

DRIVES = ("2017-08-08_Seat_Leon_RT_S", "2017-07-07_Seat_Leon_S_RT", "2018-03-01_Seat_Leon_RT_S")
KINDS = ("frozen", "shifted", "drifting", "noisy", "spiking", "other_course")
LENGTH, SIZE = 60, 2.0


def read_drive(name: str) -> Series:
    path = Path(os.environ.get("AXONAD_DATA", "../shared/data")) / "driving-dev.zip"
    with zipfile.ZipFile(path) as archive:
        content = archive.read(f"KIT-OBD2/{name}_Normal.csv")
    frame = pl.read_csv(io.BytesIO(content), ignore_errors=True).drop("t_s")
    frame = frame.fill_null(strategy="forward").fill_null(strategy="backward")
    return Series(values=frame.to_numpy().astype(np.float64), channels=tuple(frame.columns))


def measure(drive: Series, rng: np.random.Generator, found: dict[str, list[bool]]) -> None:
    cut = int(0.7 * len(drive))
    train, test = drive.rows(0, cut), drive.values[cut:]
    detector: Any = make_detector("Relation", align="end").fit(train)
    for kind in KINDS:
        for j, name in enumerate(drive.channels):
            if detector.reference_.relations.weights[j] < 0.5:
                continue
            start = int(rng.integers(200, len(test) - 200 - LENGTH))
            old, rows = train.values[:, j], slice(start, start + LENGTH)
            place = Place(
                test[:, j], rows.start, rows.stop, 0, len(test), old.std(), float(np.median(old))
            )
            change = make_change(kind, place, rng)
            if change is None or old.std() == 0:
                continue
            values = test.copy()
            values[rows, j] += change * (1.0 if kind in SIZELESS else SIZE)
            explained = detector.explain(Series(values=values, channels=drive.channels))
            events = [
                e for e in explained.events(gap=20) if e.start < rows.stop and e.end > rows.start
            ]
            found["found"].append(bool(events))
            if events:
                event = explained.explained([max(events, key=lambda e: e.score)])[0]
                wanted = "wrong relation" if kind == "other_course" else kind
                found["blame, hit@1"].append(event.channels[0] == name)
                found["explained, hit@1"].append(event.why.channels[0] == name)
                found["vanishes"].append(event.why.counterfactual.vanishes)
                found["kind"].append(event.why.kind == wanted)


def main() -> None:
    warnings.simplefilter("ignore")  # context of other parts of a drive
    found: dict[str, list[bool]] = defaultdict(list)
    rng = np.random.default_rng(0)
    for name in DRIVES:
        measure(read_drive(name), rng, found)
    for name, values in found.items():
        print(f"{name}: {np.mean(values):.2f} of {len(values)}")


if __name__ == "__main__":
    main()
