"""Makes the models and series of the goldens; needs release 0.2.0 and is never run anew.

The fixtures beside this file were made with the code of commit 5d9358e, which is that release:

    git worktree add ../old 5d9358e
    PYTHONPATH=.:../old/src python -m tests.golden.make

The models are fitted on a small simulated machine, and their thresholds are moved to where no score
of the series comes near them, so that another CPU, whose scores differ in the last digits, finds
the same events. ``python -m tests.golden.placing`` measures that distance.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

import axonad
from axonad import make_detector
from axonad.data.holding import hold_missing
from axonad.data.series import Series

HERE = Path(__file__).parent
CHANNELS = ("speed", "steering", "yaw_rate", "lateral", "torque", "ambient")
UNITS = ("m/s", "deg", "deg/s", "m/s^2", "Nm", "°C")
START = np.datetime64("2026-03-02T06:00:00", "us")
STEP = np.timedelta64(100, "ms")
SMALL = {
    "window": 32,
    "d_model": 16,
    "heads": 2,
    "epochs": 4,
    "seed": 7,
    "device": "cpu",
    "verbose": False,
}


def smooth(values, width):
    return np.convolve(values, np.hanning(width) / np.hanning(width).sum(), "same")


def drive(rows, seed):
    """Return a normal drive of a small machine."""
    rng = np.random.default_rng(seed)

    def wander(width, size):
        found = smooth(rng.normal(size=rows + 2 * width), width)[width:-width]
        return size * found / found.std()

    speed = 18 + wander(161, 4)
    steering = wander(31, 12)
    yaw = 0.06 * speed * np.roll(steering, 2)
    lateral = 0.02 * speed * yaw
    torque = 40 + 25 * np.gradient(speed) * 10 + 1.5 * speed
    ambient = 15 + wander(401, 1.5)
    clean = np.stack([speed, steering, yaw, lateral, torque, ambient], axis=1)
    noise = rng.normal(size=clean.shape) * [0.05, 0.1, 0.15, 0.1, 1.0, 0.02]
    return np.round(clean + noise, 4)


# -- faults: each changes rows [start, stop) in place ----------------------------------------------


def offset(X, start, stop, channel, size):
    X[start:stop, CHANNELS.index(channel)] += size


def scale(X, start, stop, channel, size):
    X[start:stop, CHANNELS.index(channel)] *= size


def freeze(X, start, stop, channel, value=None):
    column = CHANNELS.index(channel)
    X[start:stop, column] = X[start, column] if value is None else value


def lose(X, start, stop, *channels):
    X[start:stop, [CHANNELS.index(name) for name in channels]] = np.nan


def frame(X, *, times=True, drop=(), names=CHANNELS, gaps=()):
    """Return a table; ``gaps`` are rows before which time leaps by so many seconds."""
    columns = {}
    if times:
        clock = START + np.arange(len(X)) * STEP
        for row, seconds in gaps:
            clock[row:] += np.timedelta64(round(seconds * 1e6), "us")
        columns["time"] = clock
    for i, name in enumerate(names):
        if name not in drop:
            columns[name] = X[:, i]
    return pl.DataFrame(columns).with_columns(
        pl.col(name).fill_nan(None) for name in columns if name != "time"
    )


def faults():
    """Six faults of coordination far apart, and one value out of range."""
    X = drive(2000, 11)
    offset(X, 200, 240, "yaw_rate", 9.0)
    scale(X, 520, 570, "yaw_rate", -1.0)
    offset(X, 820, 830, "lateral", 6.0)
    offset(X, 1100, 1160, "torque", 90.0)
    freeze(X, 1420, 1460, "steering", 30.0)
    offset(X, 1750, 1790, "speed", 9.0)
    return X


def flicker():
    """Faults that come and go: some within the merge gap, some with the same cause further on."""
    X = drive(1600, 12)
    for start in (200, 228, 256):
        offset(X, start, start + 6, "yaw_rate", 12.0)
    for start in (600, 690):
        offset(X, start, start + 20, "lateral", 7.0)
    for start in (1000, 1070):
        offset(
            X, start, start + 12, ("torque", "lateral")[start > 1050], (120.0, 7.0)[start > 1050]
        )
    offset(X, 1350, 1352, "yaw_rate", 6.0)
    offset(X, 1580, 1600, "yaw_rate", 10.0)
    return X


def storm():
    """A worn machine: everything is a little off, and faults come one after the other."""
    X = drive(2600, 13)
    rng = np.random.default_rng(113)
    X[300:] += rng.normal(size=X[300:].shape) * [0.1, 0.3, 0.45, 0.3, 3.0, 0.0]
    for number, start in enumerate(range(500, 2300, 150)):
        channel, size = (("yaw_rate", 9.0), ("lateral", 6.0), ("torque", 90.0))[number % 3]
        offset(X, start, start + 12, channel, size)
    offset(X, 2400, 2425, "yaw_rate", 60.0)
    return np.round(X, 4)


def lasting():
    """A fault that lasts, above which thresholds are lifted, and one after it."""
    X = drive(1800, 14)
    offset(X, 300, 800, "yaw_rate", 6.0)
    offset(X, 600, 620, "lateral", 11.0)
    offset(X, 1500, 1530, "yaw_rate", 9.0)
    return X


def sensors():
    """Missing, frozen, unplugged and impossible values, and three real faults."""
    X = drive(2000, 15)
    offset(X, 150, 180, "yaw_rate", 9.0)
    lose(X, 300, 304, "torque")
    lose(X, 420, 470, "lateral")
    freeze(X, 700, 790, "torque")
    offset(X, 950, 955, "steering", 300.0)
    freeze(X, 1150, 1260, "lateral", -60.0)
    offset(X, 1400, 1430, "yaw_rate", 9.0)
    lose(X, 1560, 1600, "speed", "steering")
    lose(X, 1640, 1650, "torque")
    offset(X, 1800, 1830, "lateral", 7.0)
    return X


def shifted():
    """A channel whose level has moved for good, and a fault on top."""
    X = drive(4000, 16)
    offset(X, 800, 4000, "yaw_rate", 0.7)
    offset(X, 800, 4000, "torque", 6.0)
    offset(X, 3200, 3230, "yaw_rate", 9.0)
    return X


def split():
    """Two gaps in time, one inside a fault."""
    X = drive(1500, 17)
    offset(X, 400, 460, "yaw_rate", 9.0)
    offset(X, 900, 940, "lateral", 7.0)
    return X


def brief():
    """Faults of a short series, for the models that take long."""
    X = drive(700, 18)
    offset(X, 150, 190, "yaw_rate", 9.0)
    for start in (350, 372):
        offset(X, start, start + 8, "lateral", 7.0)
    freeze(X, 560, 600, "steering", 30.0)
    return X


def torn():
    """Missing, frozen and impossible values of a short series, and a real fault."""
    X = drive(700, 19)
    lose(X, 150, 154, "torque")
    lose(X, 230, 260, "lateral")
    freeze(X, 400, 480, "torque")
    offset(X, 560, 564, "steering", 300.0)
    offset(X, 620, 650, "yaw_rate", 9.0)
    return X


SERIES = {
    "faults": (faults, {}),
    "plain": (faults, {"times": False}),
    "flicker": (flicker, {}),
    "storm": (storm, {}),
    "lasting": (lasting, {}),
    "sensors": (sensors, {}),
    "shifted": (shifted, {}),
    "split": (split, {"gaps": ((430, 30.0), (1200, 600.0))}),
    "short": (lambda: faults()[:24], {}),
    "fewer": (lambda: faults()[:600], {"drop": ("lateral",)}),
    "extra": (lambda: np.c_[faults()[:400], np.ones(400)], {"names": (*CHANNELS, "gear")}),
    "brief": (brief, {}),
    "bare": (brief, {"times": False}),
    "torn": (torn, {}),
    "parted": (lambda: brief()[:600], {"gaps": ((260, 45.0),)}),
    "empty": (lambda: sensors()[:700], {}),
    "backwards": (lambda: faults()[:400], {"gaps": ((200, -30.0),)}),
}

ALL = {"alarm_budget": "1 per 3000 steps"}
MODELS = {
    "light-all": (
        "MultiView",
        {"views": ("shape", "forecast", "relation"), "context": ("ambient",), **ALL},
    ),
    "light": ("MultiView", {"views": ("shape", "forecast", "relation")}),
    "full-all": ("MultiView", {**SMALL, "context": ("ambient",), **ALL}),
    "full": ("MultiView", SMALL),
    "relation-all": ("Relation", {"context": ("ambient",), "alarm_budget": "2 per hour"}),
    "relation-times": ("Relation", {}),
    "relation-aged": ("Relation", ALL),
    "forecast-budget": ("Forecast", ALL),
    "forecast-slow": ("Forecast", ALL),
    "axonad": ("AxonAD", SMALL | {"tail": 4}),
    "axonad-budget": ("AxonAD", SMALL | {"tail": 4, **ALL}),
    "pca": ("PCA", {"window": 2}),
    "pca-budget": ("PCA", {"window": 2, **ALL}),
}
WITHOUT_NAMES = ("pca",)
WITHOUT_TIMES = ("pca", "pca-budget", "light")
WITH_UNITS = ("light-all", "relation-all", "full-all")


def training(name):
    """Return two normal recordings as a model sees them."""
    found = []
    for seed in (1, 2):
        X = drive(1600, seed)
        if name in WITHOUT_NAMES:
            found.append(X)
            continue
        times = None if name in WITHOUT_TIMES else START + np.arange(len(X)) * STEP
        units = UNITS if name in WITH_UNITS else None
        found.append(
            Series(values=X, channels=CHANNELS, times=times, units=units, name=f"drive {seed}")
        )
    return found


SHAPES = {
    "light-all": {"merge_gap": 48, "cause_gap": 192, "long": 150},
    "forecast-slow": {"min_duration": 4, "keep_firing": 10, "merge_gap": 30, "rise": 0.0},
}
"""Numbers of a policy that differ from those of a calibration."""

RATES = {"speed": 100_000, "steering": 50_000, "yaw_rate": 20_000, "lateral": 100_000,
         "torque": 400_000, "ambient": 1_000_000}  # fmt: skip
"""Microseconds between the samples of each channel in recordings."""


def write_recording(path, X, seed):
    """Write a drive as MCAP: each channel at its own rate, with jitter, one silent for a while."""
    rng = np.random.default_rng(seed)
    begin, rows = START.astype(np.int64), len(X)
    grid, found = begin + np.arange(rows) * 100_000, {}
    for i, name in enumerate(CHANNELS):
        times = (
            begin + np.arange(0, rows * 100_000, RATES[name]) + rng.integers(0, RATES[name] // 4)
        )
        times = times + rng.integers(0, RATES[name] // 10, len(times))
        found[name] = times, np.round(np.interp(times, grid, X[:, i]), 4)
    times, values = found["torque"]
    kept = (times < begin + 120_000_000) | (times > begin + 128_000_000)
    found["torque"] = times[kept], values[kept]
    write_mcap(path, found)


def write_mcap(path, channels):
    """Write samples, times in microseconds, as JSON messages; the same bytes every time."""
    from mcap.writer import CompressionType, Writer

    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD)
        writer.start()
        schema = writer.register_schema(
            name="Value", encoding="jsonschema", data=b'{"type": "object"}'
        )
        numbers = {
            name: writer.register_channel(topic=name, message_encoding="json", schema_id=schema)
            for name in channels
        }
        rows = [
            (int(time), name, float(value))
            for name, (times, values) in channels.items()
            for time, value in zip(times, values, strict=True)
        ]
        for time, name, value in sorted(rows):
            data = json.dumps({"value": value}).encode()
            writer.add_message(
                numbers[name], log_time=time * 1000, publish_time=time * 1000, data=data
            )
        writer.finish()


def fit(name):
    """Return a model of the goldens."""
    kind, params = MODELS[name]
    detector = make_detector(kind, **params)
    if name == "relation-aged":
        with TemporaryDirectory() as folder:
            drives = []
            for seed in (1, 2):
                path = Path(folder) / f"drive_{seed}.mcap"
                write_recording(path, drive(1600, seed), seed)
                drives.append(axonad.read(path, rate="10Hz", max_age="3s"))
        detector.fit([hold_missing(one, max_hold=0) for one in drives])
        detector.max_age_ = "3s"
    else:
        detector.fit(training(name))
    if name in SHAPES:
        setup = detector.alarm_setup_
        detector.set_alarms(replace(setup, policy=replace(setup.policy, **SHAPES[name])))
    return detector


if __name__ == "__main__":
    from tests.golden.cases import PAIRS
    from tests.golden.placing import keep_away, place_thresholds

    (HERE / "series").mkdir(exist_ok=True)

    def write(name, values):
        table = frame(values, **SERIES[name][1])
        path = HERE / "series" / f"{name}.parquet"
        table.write_parquet(path, compression="zstd", compression_level=19)

    made = {name: simulate() for name, (simulate, _) in SERIES.items()}
    for name, values in made.items():
        write(name, values)
    write_recording(HERE / "series" / "recording.mcap", faults()[:1500], 21)
    models = {name: fit(name) for name in MODELS}
    for name, detector in models.items():
        place_thresholds(name, detector)
        detector.save(HERE / "models" / name, overwrite=True)
    for name, values in made.items():
        judges = [(p, models[p.model]) for p in PAIRS if p.series == name and not p.refused]
        if judges:
            keep_away(judges, values, partial(write, name))
