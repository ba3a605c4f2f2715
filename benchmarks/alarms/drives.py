"""Real drives at a budget of one event an hour, today's rule beside it; prints Markdown.

Fits on some recordings of a kind, sets the alarms on the same recordings, each left out in turn,
and runs the others: events, engine stops among them, faults planted by the self-test that are
found, and whether there is an event at the stop near row 29,250 of 2018-03-01.

KIT OBD-II reads one channel per row, ten in turn; one row is kept per turn, that after its last
channel, so that every reading is kept once and all rows show the channels in the same order of age.

python benchmarks/alarms/drives.py ../shared/data/driving-dev.zip
python benchmarks/alarms/drives.py ../shared/data/driving-dev.zip --detectors MultiView,Light
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import make_detector, read
from axonad.alarms.budget import poisson_interval
from axonad.alarms.calibration import Calibration
from axonad.alarms.data_watch import DataWatch
from axonad.alarms.event import AlarmEvent
from axonad.alarms.recalibrate import recalibrate
from axonad.alarms.scored import placed_at_end
from axonad.alarms.setup import AlarmSetup
from axonad.data.series import Series
from axonad.data.timing import GAP, find_runs, to_seconds
from axonad.detector import Detector
from axonad.errors import DataWarning, InputError

BUDGET = "1 per hour"
CONTEXT = "Ambient_Air_Temperature"
SPEED = "Engine_RPM"
OFF = 300.0  # revolutions a minute below which an engine does not run
AROUND = 3, 60  # turns before and after an engine stop that belong to it: the sensors settle
NOTED = "2018-03-01", 29_300  # drive and row of the stop at which an event is asked for
SEED = 11  # of the planted faults
DETECTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "Forecast": ("Forecast", {}),
    "Relation": ("Relation", {}),
    "Light": ("MultiView", {"views": ("shape", "forecast", "relation"), "verbose": False}),
    "MultiView": ("MultiView", {"verbose": False}),
    "AxonAD": ("AxonAD", {"verbose": False}),
}
SPLITS: dict[str, tuple[Sequence[int], Sequence[int]]] = {
    "summer → winter": (range(4), range(4, 8)),
    "winter → summer": (range(4, 8), range(4)),
    "1, 3, 5, 7 → 2, 4, 6, 8": ((0, 2, 4, 6), (1, 3, 5, 7)),
    "2, 4, 6, 8 → 1, 3, 5, 7": ((1, 3, 5, 7), (0, 2, 4, 6)),
}


@dataclass(frozen=True)
class Drive:
    """A recording with one row per turn, and which rows of the file these are."""

    series: Series
    rows: NDArray[np.int64]

    @property
    def seconds(self) -> float:
        """Usual time between two rows."""
        return float(np.median(np.diff(to_seconds(self.series.times))))

    @property
    def stops(self) -> list[tuple[int, int]]:
        """Rows in which the engine is off, with those before and after that belong to it."""
        if SPEED not in self.series.channels:
            return []
        off = self.series.values[:, self.series.channels.index(SPEED)] < OFF
        before, after = AROUND
        found: list[tuple[int, int]] = []
        for start, end in find_runs(off):
            start, end = max(0, start - before), min(len(off), end + after)
            if found and start <= found[-1][1]:
                start = found.pop()[0]
            found.append((start, end))
        return found

    @property
    def off(self) -> NDArray[np.bool_]:
        """Which rows belong to an engine stop."""
        mask = np.zeros(len(self.rows), dtype=bool)
        for start, end in self.stops:
            mask[start:end] = True
        return mask


@dataclass
class Found:
    """What one detector made of the drives it has not seen."""

    hours: float = 0.0
    today: int = 0  # runs of scores above the threshold of the fit
    alarmed: list[float] = field(default_factory=list)  # share of rows above it
    events: list[tuple[Drive, AlarmEvent]] = field(default_factory=list)
    at_stops: list[tuple[Drive, AlarmEvent]] = field(default_factory=list)
    stops: int = 0
    reached: int = 0  # stops with an event
    noted: str = "–"
    data: int = 0  # events of class data
    planted: dict[float | None, list[int]] = field(default_factory=dict)

    def share(self, least: float = 0.0) -> str:
        """Return how many of the planted faults of a size or more were found."""
        some = [found for size, found in self.planted.items() if (size or least) >= least]
        count, total = np.sum(some, axis=0) if some else (0, 0)
        return f"{100 * count / total:.0f} %" if total else "–"


# -- data ------------------------------------------------------------------------------------------


def load(path: Path, kind: str) -> list[Drive]:
    """Return the recordings of one kind from an archive or a folder."""
    if path.is_dir():
        series = [read(file) for file in sorted((path / kind).glob("*.csv"))]
    else:
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if name.startswith(f"{kind}/"))
            archive.extractall(folder, names)
            series = [read(Path(folder) / name) for name in names]
    every = (each.values.shape[1] if kind.startswith("KIT") else 1 for each in series)
    return [one_row_per_turn(each, n) for each, n in zip(series, every, strict=True)]


def one_row_per_turn(series: Series, channels: int) -> Drive:
    """Return the rows after the last channel of each turn; after a gap turns begin anew."""
    if channels == 1:
        return Drive(series, np.arange(len(series)))
    steps = np.diff(to_seconds(series.times))
    breaks = np.flatnonzero(steps > GAP * np.median(steps)) + 1
    kept = np.zeros(len(series), dtype=bool)
    for start, stop in pairwise([0, *breaks.tolist(), len(series)]):
        rows, columns = np.nonzero(np.diff(series.values[start:stop], axis=0))
        firsts = np.bincount((start + rows + 1 - columns) % channels, minlength=channels)
        if firsts.max() < 0.99 * firsts.sum():
            sys.exit(f"{series.name}: channels are not read one per row, in turn")
        last = int(firsts.argmax()) + channels - 1
        kept[start:stop] = (np.arange(start, stop) - last) % channels == 0
    return Drive(series.select(kept), np.flatnonzero(kept))


def fit(detector: Detector, recordings: Sequence[Series]) -> Detector:
    """Fit on several recordings; joined, until a fit takes a list of them."""
    usable = [r.values if r.unusable is None else r.values[~r.unusable] for r in recordings]
    return detector.fit(Series(values=np.concatenate(usable), channels=recordings[0].channels))


# -- one line of the table -------------------------------------------------------------------------


def measure(
    detector: Detector, known: Sequence[Drive], new: Sequence[Drive], *, without_stops: bool
) -> tuple[Found, Calibration]:
    """Fit and set the alarms on the known drives, run the new ones."""
    learned = [
        replace(drive.series, unusable=drive.off) if without_stops else drive.series
        for drive in known
    ]
    detector = fit(detector, learned)
    setup, calibration = recalibrate(detector, learned, budget=BUDGET, refit=True)
    found = Found()
    for drive in new:
        plain = detector.explain(drive.series, blame=False)
        found.today += len(plain.events())
        found.alarmed.append(float(np.mean(plain.alarms)))
    detector = placed_at_end(detector)
    detector.set_alarms(setup)
    for drive in new:
        run(detector, setup, drive, found)
        plant(detector, drive, found)
    return found, calibration


def run(detector: Detector, setup: AlarmSetup, drive: Drive, found: Found) -> None:
    """Add the events of one drive."""
    explained = detector.explain(drive.series)
    found.hours += (len(drive.rows) - explained.lead) * drive.seconds / 3600
    events, stops = explained.alarm_events(setup.policy), drive.stops
    for event in events:
        is_stop = any(event.start < end and event.end > start for start, end in stops)
        (found.at_stops if is_stop else found.events).append((drive, event))
    for start, end in stops:
        hit = any(event.start < end and event.end > start for event in events)
        found.reached += hit
        found.stops += 1
        name, row = NOTED
        if drive.series.name.startswith(name) and drive.rows[start] <= row < drive.rows[end - 1]:
            found.noted = "yes" if hit else "no"
    watch = DataWatch(setup.rules)
    changes = watch.push_many(drive.series.values) + watch.finish()
    found.data += sum(change.what == "fired" for change in changes)


def plant(detector: Detector, drive: Drive, found: Found) -> None:
    """Add the faults planted into one drive: all kinds, channels and sizes of the self-test."""
    try:
        result = detector.self_test(drive.series, repeats=1, seconds=None, seed=SEED, verbose=False)
    except InputError as error:
        print(f"{drive.series.name}: {error}", file=sys.stderr)
        return
    for row in result.rows:
        count = found.planted.setdefault(row.size, [0, 0])
        count[0] += row.found
        count[1] += row.plantings


# -- output ----------------------------------------------------------------------------------------

COLUMNS = (
    "detector", "known → run", "engine stops", "calibrated on", "run", "today's rule, events an hour",
    "rows in alarm", "events an hour", "95 % interval", "at engine stops", "stops with an event",
    "stop at 29,250", "bad data", "planted found", "of 2 units or more",
)  # fmt: skip


def cells(found: Found, calibration: Calibration) -> list[str]:
    """Return the cells of a line, from the hours of calibration on."""
    both = len(found.events) + len(found.at_stops)
    low, high = (bound / found.hours for bound in poisson_interval(both))
    per_step = calibration.seconds_per_step or 0.0
    return [
        f"{calibration.steps * per_step / 3600:.2f} h",
        f"{found.hours:.2f} h",
        f"{found.today / found.hours:.1f}",
        f"{100 * np.mean(found.alarmed):.1f} %",
        f"{both / found.hours:.2f}",
        f"{low:.2f} to {high:.2f}",
        f"{len(found.at_stops)} of {both}",
        f"{found.reached} of {found.stops}" if found.stops else "–",
        found.noted,
        str(found.data),
        found.share(),
        found.share(2.0),
    ]


def listed(found: Found) -> Iterator[str]:
    """Yield a line for each event."""
    for what, events in (("drive", found.events), ("stop", found.at_stops)):
        for drive, event in events:
            first, last = drive.rows[event.start], drive.rows[event.end - 1]
            yield (
                f"  {what} {drive.series.name[:-4]} rows {first} to {last}, {event.severity}, "
                f"{', '.join(event.channels[:3])}"
            )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path, help="driving-dev.zip, or a folder with its contents")
    options.add_argument("--detectors", default="Forecast,Relation", help=", ".join(DETECTORS))
    options.add_argument("--splits", default=None, help="numbers of those to run, from 1")
    options.add_argument("--stops", default="learned,left out", help="how stops are treated")
    chosen = options.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    kit, udacity = load(chosen.data, "KIT-OBD2"), load(chosen.data, "udacity-ch2")
    numbers = chosen.splits.split(",") if chosen.splits else ["1", "2", "3", "4", "5"]
    splits = [
        (name, [kit[i] for i in known], [kit[i] for i in new])
        for name, (known, new) in SPLITS.items()
    ] + [("Udacity: train → val", udacity[:5], udacity[5:])]
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * 3 + "|--:" * (len(COLUMNS) - 3) + "|")
    lines: list[str] = []
    for label in chosen.detectors.split(","):
        for number, (name, known, new) in enumerate(splits, 1):
            for stops in chosen.stops.split(",") if known[0].stops else ["–"]:
                if str(number) not in numbers:
                    continue
                began = time.monotonic()
                context = (CONTEXT,) if CONTEXT in known[0].series.channels else ()
                detector = make_detector(
                    DETECTORS[label][0], **DETECTORS[label][1], context=context
                )
                found = measure(detector, known, new, without_stops=stops == "left out")
                row = [label, name, stops, *cells(*found)]
                print("| " + " | ".join(row) + " |", flush=True)
                lines += [f"{label}, {name}, stops {stops}:", *listed(found[0])]
                print(f"{label} {name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
