"""Measure time and peak memory of fitting and scoring by length and width of the series.

    cd benchmarks/speed
    python scale.py --device cpu --threads 1 --csv scale_cpu.csv
    python scale.py --device cuda --most 1000000 --csv scale_h200.csv
    python scale.py --rows 400000 --channels 50       # one cell

``fit`` is one epoch, including validation on the last fifth and the scores of the training series;
``score`` is ``decision_function``. With ``--threads 1`` on a CPU, times are CPU times, so other
load does not matter. Series longer than ``--most`` rows are timed on their first ``--most`` rows;
times scaled up by the number of rows are marked ~. The exponent says how time grows with the number
of windows (1 is linear), compared with at most a quarter of the longest series timed.

Memory is the peak above the series itself. It is the sum of two parts, each measured in its own
process: what a pass needs (the default network on the rows timed), and what grows with the series
(all rows, with a tiny network: results and scaled rows need the same memory for any network). The
sum should not be below the true peak. For ``cuda`` the peak of the GPU follows after a plus sign.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from timing import timed

from axonad import AxonAD
from axonad.bench.machine import commit, describe_device, device_memory

ROWS = (10_000, 100_000, 400_000, 1_000_000)
CHANNELS = (10, 50, 200)
WINDOW = 100
LEAST = 1_600
TINY = {
    "window": 8, "d_model": 8, "heads": 1, "tail": 2, "dilations": (1,), "validation": 0.97,
    "batch_size": 1024,
}  # fmt: skip


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(rows: int, channels: int, *, device: str, tiny: bool) -> dict[str, float]:
    """Fit and score one series in this process; return seconds and MiB."""
    warm = AxonAD(epochs=1, device=device, verbose=False, **TINY)
    X = np.random.default_rng(0).normal(size=(max(rows, 400), channels))
    warm.fit(X[:400]).decision_function(X[:400])  # load all modules before measuring
    before = peak()
    detector = AxonAD(epochs=1, device=device, verbose=False, **(TINY if tiny else {}))
    fit = timed(lambda: detector.fit(X), device)
    fitted = peak()
    score = timed(lambda: detector.decision_function(X), device)
    return {
        "fit": fit,
        "score": score,
        "series": X.nbytes / 2**20,
        "fit_memory": fitted - before,
        "memory": peak() - before,
        "device_memory": device_memory(device) or 0.0,
    }


def in_process(rows: int, channels: int, args: argparse.Namespace, *, tiny: bool) -> dict:
    words = [sys.executable, __file__, "--device", args.device, "--threads", str(args.threads)]
    words += ["--cell", json.dumps([rows, channels, tiny])]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--channels", type=int, nargs="+", default=CHANNELS)
    parser.add_argument("--most", type=int, default=4_000, help="largest number of rows to time")
    parser.add_argument("--csv", type=Path, help="also write the cells to this file")
    parser.add_argument("--cell", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if min(*args.rows, args.most) < LEAST and not args.cell:
        parser.error(f"--rows and --most must be at least {LEAST}; the exponent needs a quarter")
    torch.set_num_threads(args.threads)
    if args.cell:
        rows, channels, tiny = args.cell
        print(json.dumps(measure(rows, channels, device=args.device, tiny=tiny)))
    else:
        show(args)


def show(args: argparse.Namespace) -> None:
    where = f"{describe_device(args.device)}, {args.threads} threads, torch {torch.__version__}"
    print(f"{where}; timed on at most {args.most} rows\n")
    print("| rows | channels | fit, one epoch (s) | score (s) | series (MiB) | memory (MiB) |")
    print("|---:|---:|---:|---:|---:|---:|")
    cells = []
    for channels in args.channels:
        timings = {}
        for rows in args.rows:
            part = min(rows, args.most)
            if part not in timings:
                timings[part] = in_process(part, channels, args, tiny=False)
            cell = make_cell(rows, channels, part, timings, args)
            cells.append(cell)
            print(line(cell), flush=True)
            if args.csv:  # after every cell, so that an interrupted run keeps its results
                write(args.csv, cells, where)
        few = max((size for size in timings if size <= part // 4), default=part // 4)
        if few not in timings:
            timings[few] = in_process(few, channels, args, tiny=False)
        for what in ("fit", "score"):
            windows = (part - WINDOW + 1) / (few - WINDOW + 1)
            growth = math.log(timings[part][what] / timings[few][what]) / math.log(windows)
            print(
                f"growth of {what} with windows from {few} to {part} rows, {channels} channels: "
                f"exponent {growth:.2f}"
            )


def make_cell(rows: int, channels: int, part: int, timings: dict, args) -> dict:
    here = timings[part]
    whole = here if part == rows else in_process(rows, channels, args, tiny=True)
    factor = rows / part
    return {
        "rows": rows,
        "channels": channels,
        "timed_rows": part,
        "fit_s": round(here["fit"] * factor, 2),
        "score_s": round(here["score"] * factor, 2),
        "series_mib": round(whole["series"]),
        "memory_mib": round(whole["memory"] + (here["memory"] if part < rows else 0)),
        "device_mib": round(max(whole["device_memory"], here["device_memory"])),
    }


def line(cell: dict) -> str:
    mark = "~" if cell["timed_rows"] < cell["rows"] else ""
    memory = f"{cell['memory_mib']}" + (f" + {cell['device_mib']}" if cell["device_mib"] else "")
    times = f"{mark}{cell['fit_s']} | {mark}{cell['score_s']}"
    return f"| {cell['rows']:,} | {cell['channels']} | {times} | {cell['series_mib']} | {memory} |"


def write(path: Path, cells: list[dict], where: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, [*cells[0], "machine", "commit"])
        out.writeheader()
        out.writerows({**cell, "machine": where, "commit": commit()} for cell in cells)


if __name__ == "__main__":
    main()
