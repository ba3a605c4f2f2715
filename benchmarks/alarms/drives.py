"""Real drives at a budget of one event an hour, today's rule beside it; prints Markdown.

Fits on some recordings of a kind, sets the alarms on the same recordings, each left out in turn,
and runs the others. Counts events at engine stops and others, the planted faults that are found,
and says whether there is an event at the stop near row 29,250 of 2018-03-01.

python benchmarks/alarms/drives.py ../shared/data/driving-dev.zip
python benchmarks/alarms/drives.py ../shared/data/driving-dev.zip --detectors MultiView
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from drive_data import Drive, load

from axonad import make_detector
from axonad.alarms.budget import poisson_interval
from axonad.alarms.data_watch import DataWatch
from axonad.alarms.event import AlarmEvent
from axonad.alarms.recalibrate import recalibrate
from axonad.alarms.scored import placed_at_end
from axonad.alarms.setup import AlarmSetup
from axonad.detector import Detector
from axonad.errors import DataWarning, InputError

BUDGET = "1 per hour"
CONTEXT = "Ambient_Air_Temperature"
NOTED = "2018-03-01", 29_300  # drive and row of the stop at which an event is asked for
SEED = 11  # of the planted faults
DETECTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "Forecast": ("Forecast", {}),
    "Forecast smooth=15": ("Forecast", {"smooth": 15}),
    "Relation": ("Relation", {}),
    "CrossChannelRidge": ("CrossChannelRidge", {"smooth": 31}),
    "Forecast + Relation": ("MultiView", {"views": ("forecast", "relation"), "verbose": False}),
    "ShapeMemory": ("ShapeMemory", {}),
    "MultiView without network": (
        "MultiView", {"views": ("shape", "forecast", "relation"), "verbose": False}
    ),
    "MultiView": ("MultiView", {"verbose": False}),
    "AxonAD": ("AxonAD", {"verbose": False}),
}  # fmt: skip
QUICK = ("Forecast", "Relation", "Forecast + Relation", "CrossChannelRidge")  # seconds each
SPLITS: dict[str, tuple[Sequence[int], Sequence[int]]] = {
    "summer → winter": (range(4), range(4, 8)),
    "winter → summer": (range(4, 8), range(4)),
    "1, 3, 5, 7 → 2, 4, 6, 8": ((0, 2, 4, 6), (1, 3, 5, 7)),
    "2, 4, 6, 8 → 1, 3, 5, 7": ((1, 3, 5, 7), (0, 2, 4, 6)),
}  # each pair runs every drive once
COLUMNS = (
    "detector", "known → run", "engine stops", "calibrated on", "run", "today's rule, an hour",
    "rows in alarm", "events an hour", "at stops", "others", "others an hour", "95 % interval",
    "stops with an event", "29,250", "bad data", "planted found", "from 1 unit",
)  # fmt: skip


@dataclass
class Found:
    """What a detector made of drives it has not seen."""

    known_hours: float = 0.0  # that the alarms rest on
    hours: float = 0.0
    today: int = 0  # runs of scores above the threshold of the fit
    alarmed: float = 0.0  # hours above it
    events: list[tuple[Drive, AlarmEvent]] = field(default_factory=list)  # not at engine stops
    at_stops: list[tuple[Drive, AlarmEvent]] = field(default_factory=list)
    stops: int = 0
    reached: int = 0  # stops with an event
    noted: str = ""
    data: int = 0  # events of class data
    planted: list[tuple[float | None, int, int]] = field(default_factory=list)  # size, found, of

    def __add__(self, other: Self) -> Found:
        names = [each.name for each in fields(self)]
        return Found(*(getattr(self, name) + getattr(other, name) for name in names))

    def share(self, least: float = 0.0) -> str:
        """Return how many of the planted faults from a size on were found, and those without."""
        some = [row for row in self.planted if row[0] is None or row[0] >= least]
        total = sum(row[2] for row in some)
        return f"{100 * sum(row[1] for row in some) / total:.0f} %" if total else "–"

    def cells(self) -> list[str]:
        """Return the cells of a line from the hours of calibration on."""
        others, both = len(self.events), len(self.events) + len(self.at_stops)
        low, high = (bound / self.hours for bound in poisson_interval(others))
        return [
            f"{self.known_hours:.2f} h", f"{self.hours:.2f} h", f"{self.today / self.hours:.1f}",
            f"{100 * self.alarmed / self.hours:.1f} %", f"{both / self.hours:.2f}",
            str(len(self.at_stops)), str(others), f"{others / self.hours:.2f}",
            f"{low:.2f} to {high:.2f}",
            f"{self.reached} of {self.stops}" if self.stops else "–", self.noted or "–",
            str(self.data), self.share(), self.share(1.0),
        ]  # fmt: skip

    def lines(self) -> Iterator[str]:
        """Yield the planted faults by size, and a line for each event."""
        sizes = sorted({row[0] for row in self.planted}, key=lambda size: size or 0.0)
        for size in sizes:
            some = [row for row in self.planted if row[0] == size]
            found, of = sum(row[1] for row in some), sum(row[2] for row in some)
            what = "without a size" if size is None else f"{size:g} units"
            yield f"  planted, {what}: {found} of {of}"
        for where, events in (("", self.events), (", at a stop", self.at_stops)):
            for drive, event in events:
                first, last = drive.rows[event.start], drive.rows[event.end - 1]
                channels = ", ".join(event.channels[:3])
                name = drive.series.name.removesuffix(".csv")
                yield f"  {name}, rows {first} to {last}{where}: {event.severity}, {channels}"


def measure(
    detector: Detector, known: Sequence[Drive], new: Sequence[Drive], *, with_stops: bool
) -> Found:
    """Fit and set the alarms on the known drives, run the new ones."""
    learned = [drive.series if with_stops else drive.without_off for drive in known]
    detector = detector.fit(learned)
    setup, calibration = recalibrate(detector, learned, budget=BUDGET, refit=True)
    found = Found(known_hours=calibration.steps * (calibration.seconds_per_step or 0) / 3600)
    for drive in new:
        plain = detector.explain(drive.series, blame=False)
        found.today += len(plain.events())
        found.alarmed += float(plain.alarms.sum()) * drive.seconds / 3600
    detector = placed_at_end(detector)
    detector.set_alarms(setup)
    for drive in new:
        run(detector, setup, drive, found)
        plant(detector, drive, found)
    return found


def run(detector: Detector, setup: AlarmSetup, drive: Drive, found: Found) -> None:
    """Add the events of one drive."""
    explained = detector.explain(drive.series)
    found.hours += (len(drive.rows) - explained.lead) * drive.seconds / 3600
    events = explained.alarm_events(setup.policy)
    for event in events:
        is_off = any(event.start < end and event.end > start for start, end in drive.off)
        (found.at_stops if is_off else found.events).append((drive, event))
    for start, end in drive.stops:
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
    found.planted += [(row.size, row.found, row.plantings) for row in result.rows]


def main() -> None:
    """Print the table, then all events."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data", type=Path, help="driving-dev.zip, or a folder with its contents")
    options.add_argument("--detectors", default=",".join(QUICK), help=", ".join(DETECTORS))
    options.add_argument("--stops", default="learned,left out", help="how stops are treated")
    options.add_argument("--splits", default="1,2,3,4,5", help="which, by number")
    options.add_argument("--tenth", type=int, help="keep every tenth row from this one on")
    chosen = options.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    kit = load(chosen.data, "KIT-OBD2", tenth=chosen.tenth)
    udacity = load(chosen.data, "udacity-ch2")
    splits = [(s, [kit[i] for i in a], [kit[i] for i in b]) for s, (a, b) in SPLITS.items()]
    splits.append(("Udacity: train → val", udacity[:5], udacity[5:]))
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * 3 + "|--:" * (len(COLUMNS) - 3) + "|")
    lines: list[str] = []
    for label in chosen.detectors.split(","):
        for stops in chosen.stops.split(","):
            before = Found()
            for number in map(int, chosen.splits.split(",")):
                split, known, new = splits[number - 1]
                if number == 5 and stops != "learned":
                    continue
                began = time.monotonic()
                context = (CONTEXT,) if CONTEXT in known[0].series.channels else ()
                name, params = DETECTORS[label]
                detector = make_detector(name, **params, context=context)
                found = measure(detector, known, new, with_stops=stops == "learned")
                print(f"| {label} | {split} | {stops} | {' | '.join(found.cells())} |", flush=True)
                if number in (2, 4) and before.hours:
                    both = (before + found).cells()
                    print(f"| {label} | **both** | {stops} | {' | '.join(both)} |", flush=True)
                before = found if number in (1, 3) else Found()
                lines += [f"{label}, {split}, stops {stops}:", *found.lines()]
                print(f"{label} {split}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
