"""Measure time and peak memory of ``axonad score`` on one file, whole and in chunks.

    python benchmarks/speed/chunks.py --rows 2000000 --channels 16 --chunk 100000

Each method runs in its own process, from reading the file to writing Parquet. Memory is the peak
of the process above what it held before it read the file; compare it with the size of the series.
Memory-mapped files count as long as the operating system keeps them in memory.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from axonad import load, make_detector


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def score(folder: Path, data: str, chunk: int) -> None:
    from axonad.cli.output_files import write_table
    from axonad.cli.score_chunks import score_chunked
    from axonad.cli.score_table import score_columns
    from axonad.data.readers import read
    from axonad.data.readers.chunks import FileChunks

    detector = load(folder / "model")
    detector.explain(read(folder / "few.parquet"))  # load all modules before measuring
    before, begun = peak(), time.perf_counter()
    if chunk:
        score_chunked(detector, FileChunks(folder / data, size=chunk), folder / "chunks.parquet")
    else:
        series = read(folder / data)
        found = detector.explain(series)
        found.events(gap=detector.history // 4)
        write_table(folder / "whole.parquet", score_columns(series, found))
    print(time.perf_counter() - begun, peak() - before)


def make(folder: Path, data: str, args: argparse.Namespace) -> None:
    values = np.random.default_rng(0).normal(size=(args.rows, args.channels))
    frame = pl.DataFrame(values, schema=[f"channel {i}" for i in range(args.channels)])
    few = frame.head(5_000)
    few.write_parquet(folder / "few.parquet")
    getattr(frame, f"write_{args.format}")(folder / data)
    make_detector(args.detector).fit(few).save(folder / "model")
    print(frame.estimated_size("mb"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--channels", type=int, default=16)
    parser.add_argument("--chunk", type=int, default=100_000)
    parser.add_argument("--detector", default="CrossChannelRidge")
    parser.add_argument("--format", default="parquet", choices=("parquet", "csv"))
    parser.add_argument("--step", choices=("make", "whole", "chunks"), help=argparse.SUPPRESS)
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    data = f"data.{args.format}"
    if args.step == "make":
        make(args.folder, data, args)
    elif args.step:
        score(args.folder, data, args.chunk if args.step == "chunks" else 0)
    else:
        compare(args)


def compare(args: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as name:
        # A child process inherits the peak memory of its parent, so every step needs its own.
        def step(which: str) -> list[float]:
            words = [sys.executable, __file__, *sys.argv[1:], "--in", name, "--step", which]
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
            return [float(word) for word in done.stdout.split()]

        print(f"{args.detector}, {args.format}: series {step('make')[0]:.0f} MiB")
        taken = {way: step(way) for way in ("whole", "chunks")}
        for way, (seconds, memory) in taken.items():
            print(f"{way:7} {seconds:6.1f} s, peak {memory:6.0f} MiB above the start")
        print(f"time ratio {taken['chunks'][0] / taken['whole'][0]:.2f}")
        whole, parts = (pl.read_parquet(Path(name) / f"{way}.parquet") for way in taken)
        print(f"largest difference {(whole['score'] - parts['score']).abs().max():.1e}")


if __name__ == "__main__":
    main()
