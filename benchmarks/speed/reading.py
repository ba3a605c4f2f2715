"""Measure reading a folder of MDF4 files: ``axonad.read`` and the library alone with resampling.

    python benchmarks/speed/reading.py --files 10 --minutes 60 --channels 50

A fifth of the channels has 100 Hz, the others 10 Hz. "library" reads the same channels with asammdf
and brings them onto the same raster with the same resampler, in one process; ``axonad.read`` does
it in its reader process and moves the values. Both go through the files alternately, one file at a
time. Time is wall-clock time; memory is the peak of both processes above what they held before.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import psutil
from asammdf import MDF, Signal

import axonad
from axonad.data.raster import hold_age, native_interval, parse_rate, to_micros
from axonad.data.readers import process
from axonad.data.resample import Resampler


def make(path: Path, *, minutes: float, channels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    with MDF(version="4.10") as mdf:
        for rate, count in ((100, channels // 5), (10, channels - channels // 5)):
            rows = int(minutes * 60 * rate)
            times = (np.arange(rows) + 0.3 * rng.random(rows)) / rate
            values = rng.normal(size=(count, rows)).cumsum(axis=1).astype(np.float32)
            names = [f"c{rate}_{i}" for i in range(count)]
            signals = zip(names, values, strict=True)
            mdf.append([Signal(v, times, name=name, unit="V") for name, v in signals])
        mdf.save(path, overwrite=True)


def read_with_library(path: Path, rate: str) -> np.ndarray:
    interval = parse_rate(rate)
    with MDF(path) as mdf:
        begin = round(mdf.start_time.timestamp() * 1e6)
        places = [
            (None, i, j)
            for i, group in enumerate(mdf.groups)
            for j in range(len(group.channels))
            if j != mdf.masters_db.get(i)
        ]
        signals = mdf.select(places, copy_master=False)
    shared = {}  # the times of a group, once
    for signal in signals:
        if id(signal.timestamps) not in shared:
            times = to_micros(signal.timestamps) + begin
            shared[id(signal.timestamps)] = times, hold_age(native_interval(times), interval)
    ages = {signal.name: shared[id(signal.timestamps)][1] for signal in signals}
    resampler = Resampler(ages, interval=interval)
    for signal in signals:
        resampler.push(signal.name, shared[id(signal.timestamps)][0], signal.samples)
    return resampler.advance(resampler.last_time()).values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--channels", type=int, default=50)
    parser.add_argument("--rate", default="10Hz")
    args = parser.parse_args()
    taken: dict[str, list[float]] = {"library": [], "axonad": []}
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.mf4" for i in range(args.files)]
        make(Path(folder) / "warm.mf4", minutes=1, channels=args.channels, seed=99)
        axonad.read(Path(folder) / "warm.mf4", rate=args.rate)
        read_with_library(Path(folder) / "warm.mf4", args.rate)
        peaks = []
        for seed, path in enumerate(paths):
            make(path, minutes=args.minutes, channels=args.channels, seed=seed)
            size = path.stat().st_size / 2**20
            begun = time.perf_counter()
            expected = read_with_library(path, args.rate)
            taken["library"].append(time.perf_counter() - begun)
            begun = time.perf_counter()
            series = axonad.read(path, rate=args.rate)
            taken["axonad"].append(time.perf_counter() - begun)
            np.testing.assert_array_equal(series.values, expected)
            reader = process._idle[0].pid if process._idle else None
            if reader is not None:
                peaks.append(psutil.Process(reader).memory_info().rss / 2**20)
            path.unlink()
        rows, columns = series.values.shape
    ratios = [a / b for a, b in zip(taken["axonad"], taken["library"], strict=True)]
    hours = args.files * args.minutes / 60
    print(f"{args.files} files of {size:.0f} MiB, {hours:g} h, {rows} x {columns} rows each")
    for name, seconds in taken.items():
        print(f"{name}: {sum(seconds):.2f} s in all, {statistics.median(seconds):.3f} s a file")
    print(f"ratio of the sums {sum(taken['axonad']) / sum(taken['library']):.2f}, "
          f"median of the ratios {statistics.median(ratios):.2f}")  # fmt: skip
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak of this process {own:.0f} MiB; reader process after each file: "
          f"{', '.join(f'{peak:.0f}' for peak in peaks) or 'ended'} MiB")  # fmt: skip


if __name__ == "__main__":
    main()
