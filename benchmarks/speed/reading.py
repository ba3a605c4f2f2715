"""Measure reading a folder of MDF4 files: ``axonad.read`` and the library alone with resampling.

    python benchmarks/speed/reading.py --files 10 --minutes 60 --channels 50

A fifth of the channels has 100 Hz, the others 10 Hz. "library" reads the same channels with asammdf
and brings them onto the same raster with the same resampler, in one process; ``axonad.read`` does
it in its reader process and moves the values. Both go through the files alternately, one file at a
time. Time is CPU time, for ``axonad.read`` of both processes together: on a busy machine wall-clock
time depends on when the other process gets a core. Memory is the peak of this process, and what the
reader process holds after each file.
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


def read_with_axonad(path: Path, rate: str) -> np.ndarray:
    return axonad.read(path, rate=rate).values


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its reader process."""
    reader = sum(sum(psutil.Process(one.pid).cpu_times()[:2]) for one in process._idle)
    return time.process_time() + reader


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
        for seed, path in enumerate(paths):
            make(path, minutes=args.minutes, channels=args.channels, seed=seed)
        size, peaks = paths[0].stat().st_size / 2**20, []
        ways = {"library": read_with_library, "axonad": read_with_axonad}
        for i, path in enumerate(paths):
            found = {}
            for name in sorted(ways, reverse=bool(i % 2)):
                begun = cpu_seconds()
                found[name] = ways[name](path, args.rate)
                taken[name].append(cpu_seconds() - begun)
            np.testing.assert_array_equal(found["library"], found["axonad"])
            peaks += [psutil.Process(one.pid).memory_info().rss / 2**20 for one in process._idle]
        rows, columns = found["axonad"].shape
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
