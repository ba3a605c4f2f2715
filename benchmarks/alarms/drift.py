"""Drift: false verdicts on normal data, delays, a two-hour ramp, another driver, load and weather.

Generated drives of seeds 500 to 571 (never 2024 to 2027), 10 rows a second, and the KIT drives. A
CrossChannelRidge and a Relation are fitted on one drive of 40,000 rows; two others set the alarms
at one false event an hour and are the reference of drift. Prints Markdown.

python benchmarks/alarms/drift.py [../shared/data/driving-dev.zip ../shared/data/TSB-AD-M-dev.zip]

With ``--changes MultiView`` only another driver, load and weather and the ramps, for one detector;
with ``--ramps steering_angle 4 5 6 8`` the minutes until ramps of a channel are told, in eight
drives, by values alone.
"""

from __future__ import annotations

import sys
import warnings
import zipfile
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

sys.path.insert(0, __file__.rpartition("/")[0])
from context import CONTEXT, load_drives

from axonad import make_detector
from axonad.alarmed import RecordedEvents
from axonad.alarms.drift import DriftWatch
from axonad.alarms.drift_reference import DriftReference
from axonad.alarms.recalibrate import recalibrate
from axonad.data import vehicle
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import DataWarning
from axonad.explanation import Explanation

ROWS, FIRST, CHANGED = 40_000, 10_000, 62_000
RAMP = 72_000  # two hours
TUNING = ("004", "011", "023", "028", "062", "082", "090", "107", "149", "164")
DETECTORS: dict[str, dict[str, Any]] = {
    "CrossChannelRidge": {"smooth": 31},
    "Relation": {},
    "MultiView": {"verbose": False},
}
CHEAP = ("CrossChannelRidge", "Relation")


def drive(seed: int, rows: int = ROWS, *, pace: float = 1.0, mass: float = 1550.0) -> np.ndarray:
    """Return a clean drive, by a driver of another pace or with another mass of the car."""
    build = vehicle._build_route

    def route(metres: int, rng: np.random.Generator) -> vehicle.Route:
        found = build(int(metres * max(1.0, pace)), rng)
        return found._replace(speed=found.speed * pace)

    with patch.multiple(vehicle, _build_route=route, MASS=mass):
        return vehicle.simulate_drive(rows, np.random.default_rng(seed))


def column(name: str) -> int:
    return vehicle.CHANNELS.index(name)


def cold(seed: int) -> np.ndarray:
    """Return a drive in cold, wet weather: slower, cooler, richer mixture, denser air."""
    values = drive(seed, CHANGED, pace=0.85)
    values[:, column("coolant_temperature")] -= 4.0
    values[:, column("fuel_rate")] *= 1.08
    values[:, column("manifold_pressure")] += 2.0
    return vehicle.as_read(values)


def series(values: np.ndarray) -> Series:
    return Series(values=values, channels=vehicle.CHANNELS, name="drive")


def fitted(name: str) -> Detector:
    detector = make_detector(name, **DETECTORS[name]).fit(series(drive(500)))
    setup, _ = recalibrate(
        detector, [series(drive(501)), series(drive(502))], budget="1 per hour",
        seconds_per_step=0.1,
    )  # fmt: skip
    detector.set_alarms(setup)
    return detector


def found_in(detector: Detector, X: Series, found: Explanation) -> tuple[list, list]:
    """Return the drifts and the events of a series whose scores are known."""
    recording = RecordedEvents(detector, keep_all=True)
    recording.see(X)
    recording.add(found, times=X.times)
    listed = recording.finish()
    return [one.event for one in listed.drift], [one.event for one in listed.events]


def told(detector: Detector, values: np.ndarray, begin: int) -> str:
    """Return the verdicts and events of a drive with a change at a row, as table cells.

    Events without any gathering come after those with it.
    """
    X = series(values)
    found = detector.explain(X)
    drifts, events = found_in(detector, X, found)
    policy = detector.alarm_setup_.policy
    every = found.alarm_events(replace(policy, pace=0.0))
    events, every = ([e for e in some if e.end > begin] for some in (events, every))
    gathering = [e.fired for e in events if e.reason]
    moments = [e.fired for e in drifts][:1], gathering[:1], [e.fired for e in events][:1]
    verdict, gathers, first = (
        f"{(rows[0] - begin) / 600:.0f}" if rows else "none" for rows in moments
    )
    said, marked = drifts[0].reason if drifts else "", sum(e.drift for e in events)
    counts = f"{len(events)} | {len(every)} | {marked}"
    return f"{verdict} | {said} | {gathers} | {counts} | {first}"


def false_verdicts() -> None:
    """Values alone: references of one and of two drives against other drives of 80,000 rows."""
    drives = {seed: drive(seed, 80_000) for seed in range(560, 572)}
    for size in (1, 2):
        false = runs = 0
        for seed in drives:
            known = [drives[560 + (seed - 560 + k) % 12][:ROWS] for k in range(size)]
            none = np.full(ROWS, np.nan)
            reference = DriftReference.learn([(part, none) for part in known], history=100)
            for step in (2, 4, 7, 10):
                watch = DriftWatch(reference, names=vehicle.CHANNELS)
                values = drives[560 + (seed - 560 + step) % 12]
                changes = watch.push_many(values, np.full(len(values), np.nan))
                runs, false = runs + 1, false + any(c.what == "fired" for c in changes)
        print(f"reference of {size} x {ROWS} rows: {false} of {runs} drives of 2.2 h", flush=True)


def delays(detector: Detector) -> None:
    """Print minutes until a shift from row FIRST on is told, by size in standard deviations."""
    clean = drive(510, ROWS)
    sd = clean.std(axis=0)
    found = detector.explain(series(clean), blame=False)
    for name in ("steering_angle", "yaw_rate", "engine_torque", "coolant_temperature"):
        cells = []
        for size in (0.25, 0.5, 1.0, 2.0, 4.0):
            values = clean.copy()
            values[FIRST:, column(name)] += size * sd[column(name)]
            drifts, _ = found_in(detector, series(values), found)
            cells.append(f"{(drifts[0].fired - FIRST) / 600:.0f}" if drifts else "none")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def changes(name: str, detector: Detector) -> None:
    start = drive(511, FIRST)
    whole = {
        "nothing": drive(512, CHANGED),
        "driver 15 % faster": drive(512, CHANGED, pace=1.15),
        "driver 15 % slower": drive(512, CHANGED, pace=0.85),
        "400 kg load": drive(512, CHANGED, mass=1950.0),
        "cold and wet": cold(512),
    }
    for what, values in whole.items():
        cells = told(detector, np.concatenate([start, values]), FIRST)
        print(f"| {name} | {what} | {cells} |", flush=True)
    clean = drive(513, FIRST // 5 + RAMP)
    for channel, sizes in (
        ("coolant_temperature", (5, 10)), ("steering_angle", (4, 8, 20)), ("yaw_rate", (2,)),
        ("manifold_pressure", (10,)), ("wheel_speed_fl", (5,)), ("fuel_rate", (2,)),
    ):  # fmt: skip
        for size in sizes:
            values = clean.copy()
            values[-RAMP:, column(channel)] += np.linspace(0, size, RAMP)
            cells = told(detector, values, len(values) - RAMP)
            unit = vehicle.SENSORS[column(channel)].unit
            print(f"| {name} | ramp, {channel} +{size} {unit} | {cells} |", flush=True)


def ramps(channel: str, sizes: list[float]) -> None:
    """Print the minutes until two-hour ramps of a channel are told, by values alone."""
    known = [(drive(seed), np.full(ROWS, np.nan)) for seed in (501, 502)]
    reference = DriftReference.learn(known, history=100)
    for seed in range(513, 521):
        clean, cells = drive(seed, FIRST // 5 + RAMP), []
        for size in (0.0, *sizes):
            values = clean.copy()
            values[-RAMP:, column(channel)] += np.linspace(0, size, RAMP)
            watch = DriftWatch(reference, names=vehicle.CHANNELS)
            found = watch.push_many(values, np.full(len(values), np.nan))
            fired = [c.row - FIRST // 5 for c in found if c.what == "fired"]
            cells.append(f"{fired[0] / 600:.0f}" if fired else "none")
        print(f"| {seed} | {' | '.join(cells)} |", flush=True)


def kit(path: str) -> None:
    """Real drives: reference of two summer drives, all others judged."""
    with patch("context.EVERY", 1):
        drives = list(load_drives(path).values())
    plain = [Series(values=d.values, channels=d.channels, name=d.name) for d in drives]
    detector = make_detector("CrossChannelRidge", smooth=31, context=(CONTEXT,)).fit(plain[0])
    setup, _ = recalibrate(detector, plain[1:3], budget="1 per hour", seconds_per_step=0.1)
    detector.set_alarms(setup)
    print(*setup.drift.notes(detector.channel_names), sep="\n")
    for X in plain[3:]:
        drifts, _ = found_in(detector, X, detector.explain(X))
        said = "; ".join(f"after {e.fired / 600:.0f} min: {e.reason}" for e in drifts) or "none"
        print(f"| {X.name} | {len(X) / 600:.0f} | {said} |", flush=True)


def fires(known: list[np.ndarray], new: np.ndarray) -> bool | None:
    """Return whether rows drift from others by their values; None if nothing can be judged."""
    parts = [(part, np.full(len(part), np.nan)) for part in known]
    reference = DriftReference.learn(parts, history=100)
    if not reference.statistics:
        return None
    found = DriftWatch(reference).push_many(new, np.full(len(new), np.nan))
    return any(change.what == "fired" for change in found)


def exchangeable() -> None:
    """Independent rows, for which the bound is exact but for the choice of blocks."""
    rows = [np.random.default_rng(seed).normal(size=(9_000, 4)) for seed in range(300)]
    false = sum(bool(fires([part[:4_500]], part[4_500:])) for part in rows)
    print(f"independent rows: {false} of {len(rows)} streams of 45 windows", flush=True)


def real_normal(drives_path: str, series_path: str) -> None:
    """KIT drives of one season against each other; normal prefixes of the tuning series, halved."""
    import polars

    with patch("context.EVERY", 1):
        drives = [one.values for one in load_drives(drives_path).values()]
    for season in (drives[:4], drives[4:]):
        told = [fires([*season[:i], *season[i + 1 :]], season[i]) for i in range(len(season))]
        print(f"KIT, one against three of its season: {told}", flush=True)
    with zipfile.ZipFile(series_path) as archive:
        for name in sorted(archive.namelist()):
            if not any(f"/{number}_" in name for number in TUNING):
                continue
            rows = int(name.split("_tr_")[1].split("_")[0])
            table = polars.read_csv(archive.read(name), n_rows=rows).drop("Label")
            values = table.to_numpy().astype(np.float64)
            said = fires([values[: rows // 2]], values[rows // 2 :])
            print(f"{name.rpartition('/')[2]}: {rows} normal rows, {said}", flush=True)


def main(parts: list[str]) -> None:
    warnings.simplefilter("ignore", DataWarning)
    if parts[:1] == ["--changes"]:
        for name in parts[1:]:
            changes(name, fitted(name))
        return
    if parts[:1] == ["--ramps"]:
        ramps(parts[1], [float(size) for size in parts[2:]])
        return
    exchangeable()
    false_verdicts()
    if len(parts) > 1:
        real_normal(parts[0], parts[1])
    for name in CHEAP:
        detector = fitted(name)
        print(*detector.alarm_setup_.drift.notes(detector.channel_names), sep="\n")
        if name == "CrossChannelRidge":
            delays(detector)
        changes(name, detector)
    if parts:
        kit(parts[0])


if __name__ == "__main__":
    main(sys.argv[1:])
