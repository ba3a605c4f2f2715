"""How fits and scoring grow with the channels or the rows of a series, beside release 0.2.0.

    python tools/release_0_2_0.py                       # once: the source of release 0.2.0
    cd benchmarks/speed
    OMP_NUM_THREADS=1 python growth.py channels Relation Forecast
    OMP_NUM_THREADS=1 python growth.py rows ShapeMemory --sizes 10000 40000
    python growth.py table                              # the rows made so far, with exponents
    python growth.py draw                               # the same as growth.png

Every measurement is a process of its own, release 0.2.0 and this tree in turn, and is written to
``growth.csv`` as soon as it is made. What is there for the same ``src`` is not measured again, and
an interrupted run goes on where it was. The release is left out from the size on at which its fit,
growing as between its last two, would take more than ``--most`` seconds.

Times are CPU time of all threads: ``fit``, a row of ``decision_function`` on other rows, and a row
pushed to a live stream; of what takes less than a second, the least of five measurements. Memory is
the peak of the process above what it held before ``fit``, plus the series. The exponent in brackets
is the slope between the logarithms of a size and the one before; 1 is linear. Only ratios measured
in one run are meaningful.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLE = HERE / "growth.csv"
RELEASE = "0.2.0"
SIZES = {"channels": (10, 25, 50, 100, 200, 400, 1_000), "rows": (10_000, 40_000, 160_000)}
OTHER = {"channels": 10_000, "rows": 19}  # rows of a series with so many channels, and vice versa
SCORED, PUSHED = 4_000, 200  # rows
REPEATS = 5  # of what takes less than a second
FACTORS = 20  # slow signals that all channels share
LIGHT = {"views": ("shape", "forecast", "relation")}
SETTINGS = {  # detectors with settings; any other name is a detector as it is
    "MultiView": ("MultiView", {"verbose": False}),
    "MultiView, three views": ("MultiView", LIGHT),
}
KEY = ("detector", "axis", "rows", "channels", "threads", "version")
MEASURED = ("fit_s", "score_us", "live_us", "memory_mib")
FIELDS = (*KEY, *MEASURED, "source", "machine", "date")
Row = dict[str, str]


# -- one measurement, in its own process -------------------------------------------------------


def make_series(rows: int, channels: int, *, seed: int):
    """Return noise on slow signals, of which each channel is a mixture of its own."""
    import numpy as np

    mixed, drawn = np.random.default_rng(channels), np.random.default_rng(seed)
    periods, phases = mixed.uniform(20, 2_000, FACTORS), drawn.uniform(0, 6, FACTORS)
    loadings = mixed.normal(size=(FACTORS, channels)) / math.sqrt(FACTORS)
    X = 0.3 * drawn.normal(size=(rows, channels))
    for start in range(0, rows, 20_000):
        steps = np.arange(start, min(start + 20_000, rows))[:, None]
        X[start : start + 20_000] += np.sin(2 * np.pi * steps / periods + phases) @ loadings
    return X


def measure(detector: str, rows: int, channels: int) -> dict[str, float]:
    """Fit and score in this process; return CPU seconds and MiB."""
    import axonad
    from axonad import make_detector

    name, settings = SETTINGS.get(detector, (detector, {}))
    warm = make_series(1_000, 3, seed=2)
    make_detector(name, **settings).fit(warm).decision_function(warm)  # loads all modules
    X, other = make_series(rows, channels, seed=0), make_series(SCORED, channels, seed=1)
    before = peak()
    fitted = make_detector(name, **settings)
    fit = seconds(lambda: fitted.fit(X))
    score = seconds(lambda: fitted.decision_function(other))
    memory = peak() - before + X.nbytes / 2**20
    is_old = "StreamScorer" in axonad.__all__  # the release beside it
    session = (axonad.StreamScorer if is_old else axonad.Session)(fitted)

    def push(block) -> None:
        for row in block:
            session.push(row)

    push(other[: fitted.history])
    live = seconds(lambda: push(other[-PUSHED:]))
    return {
        "fit_s": fit, "score_us": 1e6 * score / SCORED, "live_us": 1e6 * live / PUSHED,
        "memory_mib": memory,
    }  # fmt: skip


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of some work."""
    taken: list[float] = []
    while not taken or (len(taken) < REPEATS and taken[0] < 1):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# -- all of them -------------------------------------------------------------------------------


def run(args: argparse.Namespace) -> None:
    known, sources = read(), {RELEASE: RELEASE, "this tree": source()}
    folders = {RELEASE: args.release / "src", "this tree": ROOT / "src"}
    for detector in args.detectors:
        taken: list[tuple[int, float]] = []  # sizes and seconds of the release's fits
        for size in args.sizes or SIZES[args.axis]:
            rows, channels = shape(args.axis, size)
            for version, folder in folders.items():
                if version == RELEASE and expect(taken, size) > args.most:
                    continue
                values = (detector, args.axis, rows, channels, threads(), version)
                row = dict(zip(KEY, values, strict=True))
                row = {name: str(value) for name, value in row.items()}
                row["source"] = sources[version]
                found = next((one for one in known if row.items() <= one.items()), None)
                if found is None:
                    found = row | in_process(folder, detector, rows, channels)
                    append(found)
                print(f"{version}: {detector}, {rows} x {channels}: " + ", ".join(
                    f"{name} {found[name]}" for name in MEASURED
                ), flush=True)  # fmt: skip
                if version == RELEASE:
                    taken.append((size, float(found["fit_s"])))


def expect(taken: list[tuple[int, float]], size: int) -> float:
    """Return the seconds of a fit of so much, by the exponent of the last two."""
    if len(taken) < 2:
        return 0.0
    (small, short), (large, long) = taken[-2:]
    return long * (size / large) ** (math.log(long / short) / math.log(large / small))


def shape(axis: str, size: int) -> tuple[int, int]:
    return (OTHER[axis], size) if axis == "channels" else (size, OTHER[axis])


def in_process(folder: Path, detector: str, rows: int, channels: int) -> Row:
    if not folder.is_dir():
        sys.exit(f"{folder} is missing; run python tools/release_0_2_0.py, or give --release")
    words = [sys.executable, __file__, "--one", json.dumps([detector, rows, channels])]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    measured = {name: f"{found[name]:.4g}" for name in MEASURED}
    return measured | {"machine": machine, "date": time.strftime("%Y-%m-%d")}


def threads() -> str:
    return os.environ.get("OMP_NUM_THREADS", str(os.cpu_count()))


def source() -> str:
    """Return the name of the tree of ``src``, with + if it has changes that are not committed."""
    tree, changed = (
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for command in (
            ["git", "rev-parse", "--short=10", "HEAD:src"],
            ["git", "status", "--porcelain", "src"],
        )
    )
    return tree.strip() + ("+" if changed else "")


def read() -> list[Row]:
    if not TABLE.exists():
        return []
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def append(row: Row) -> None:
    fresh = not TABLE.exists()
    with TABLE.open("a", newline="") as file:
        out = csv.DictWriter(file, FIELDS)
        if fresh:
            out.writeheader()
        out.writerow(row)


# -- the table ---------------------------------------------------------------------------------


def show() -> None:
    latest = {tuple(row[name] for name in KEY): row for row in read()}
    curves: dict[tuple[str, str], dict[int, dict[str, Row]]] = {}
    for row in latest.values():
        sizes = curves.setdefault((row["detector"], row["axis"]), {})
        sizes.setdefault(int(row[row["axis"]]), {})[row["version"]] = row
    for (detector, axis), sizes in curves.items():
        print(f"\n{detector}, by {axis}\n")
        print(f"| {axis} | version | fit (s) | scored row (us) | live row (us) | memory (MiB) |")
        print("|---:|---|---:|---:|---:|---:|")
        before: dict[str, tuple[int, Row]] = {}
        for size in sorted(sizes):
            for version, row in sorted(sizes[size].items()):
                cells = [cell(row, name, size, before.get(version)) for name in MEASURED]
                print(f"| {size:,} | {version} | {' | '.join(cells)} |")
                before[version] = (size, row)


def draw() -> None:
    """Draw every curve, this tree solid and the release dashed, on logarithmic axes."""
    from matplotlib.figure import Figure

    latest = {tuple(row[name] for name in KEY): row for row in read()}
    detectors = sorted({row["detector"] for row in latest.values()})
    titles = ("fit (s)", "scored row (µs)", "live row (µs)", "memory (MiB)")
    figure = Figure(figsize=(13, 6), layout="constrained")
    panels = figure.subplots(len(SIZES), len(MEASURED), squeeze=False)
    for line, axis in enumerate(SIZES):
        for panel, name, title in zip(panels[line], MEASURED, titles, strict=True):
            for number, detector in enumerate(detectors):
                for version, style in (("this tree", "-o"), (RELEASE, "--x")):
                    own = [
                        (int(row[axis]), float(row[name]))
                        for row in latest.values()
                        if (row["detector"], row["axis"], row["version"])
                        == (detector, axis, version)
                    ]
                    if own:
                        label = detector if version == "this tree" else f"{detector}, {RELEASE}"
                        panel.plot(
                            *zip(*sorted(own), strict=True), style, color=f"C{number}", label=label
                        )
            panel.set(xscale="log", yscale="log", xlabel=axis, title=title)
            panel.grid(alpha=0.3)
    lines, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=6, fontsize=9)
    figure.savefig(HERE / "growth.png", dpi=110)


def cell(row: Row, name: str, size: int, before: tuple[int, Row] | None) -> str:
    """Return a value and, in brackets, how it grew from the size before."""
    if before is None:
        return row[name]
    growth = math.log(float(row[name]) / float(before[1][name])) / math.log(size / before[0])
    return f"{row[name]} ({growth:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("axis", nargs="?", choices=[*SIZES, "table", "draw"], default="table")
    parser.add_argument("detectors", nargs="*", help=f"names, or {', '.join(SETTINGS)}")
    parser.add_argument("--sizes", type=int, nargs="+")
    most = "seconds of a fit of the release; below 0 leaves it out"
    parser.add_argument("--most", type=float, default=60, help=most)
    parser.add_argument("--release", type=Path, default=ROOT / ".release-0.2.0" / "source")
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(*args.one)))
    elif args.axis == "table":
        show()
    elif args.axis == "draw":
        draw()
    else:
        run(args)


if __name__ == "__main__":
    main()
