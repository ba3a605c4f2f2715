"""Time the commits of ``axonad live`` to SQLite and PostgreSQL.

    OMP_NUM_THREADS=1 python benchmarks/live/store.py
    OMP_NUM_THREADS=1 python benchmarks/live/store.py --url postgresql://postgres@127.0.0.1/fleet

A commit has the samples of every vehicle since the last one, and for every twentieth vehicle a
snapshot of its state with the course of 100 rows. ``sync`` is the time that writing as many bytes
to a file and waiting for the disk takes in the same run: what no store can beat.
``prune`` deletes half of the courses. The schema ``axonad_live_bench`` of PostgreSQL is used, and
dropped afterwards.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from axonad.live.config import Storing
from axonad.live.packing import pack_samples
from axonad.live.record import Course
from axonad.live.store.choose import open_store
from axonad.live.store.contract import Commit, Snapshot, Store, Tail

START = 1_700_000_000_000_000
STEP = 100_000  # 10 Hz
EVERY = 20  # commits between two snapshots of a vehicle
ROWS = 100  # of a course


def make_commit(number: int, args: argparse.Namespace, rng: np.random.Generator) -> Commit:
    now = START + number * args.samples * STEP
    times = now + STEP * np.arange(args.samples)
    tails, snapshots = [], []
    for vehicle in range(args.vehicles):
        name = f"vehicle {vehicle}"
        if (vehicle + number) % EVERY:
            values = rng.normal(size=(args.samples, args.channels))
            packed = pack_samples(list(zip(times.tolist(), values, strict=True)))
            tails.append(Tail(name, packed))
            continue
        walk = np.cumsum(rng.normal(size=(ROWS, args.channels)), axis=0).astype("f4")
        course = Course(now - STEP * np.arange(ROWS)[::-1], walk, walk[:, 0], walk[:, 0] > 3)
        snapshots.append(Snapshot(name, rng.bytes(args.state), now, course))
    return Commit(number, tails, snapshots, positions={"nats:FLEET": number})


def sync(data: bytes, path: Path) -> float:
    with path.open("ab") as file:
        begun = time.perf_counter()
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        return time.perf_counter() - begun


def timed(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def measure(kind: str, store: Store, args: argparse.Namespace, folder: Path) -> None:
    rng = np.random.default_rng(0)
    store.start(model="model")
    took, bare = [], []
    for number in range(1, args.commits + 1):
        commit = make_commit(number, args, rng)
        size = sum(len(one.samples) for one in commit.tails)
        size += sum(len(one.state) for one in commit.snapshots)
        bare.append(sync(rng.bytes(size), folder / "bare"))
        took.append(timed(lambda commit=commit: store.commit(commit)))
    middle, slow = np.percentile(took, [50, 99]) * 1e3
    print(
        f"{kind:10} commit {middle:7.1f} ms (99 %: {slow:.1f}), sync {np.median(bare) * 1e3:.1f} ms"
    )
    end = START + args.commits * args.samples * STEP
    seconds = timed(lambda: [store.saved(f"vehicle {i}") for i in range(args.vehicles)])
    print(f"{'':10} state of a vehicle {seconds / args.vehicles * 1e3:.2f} ms", end=", ")
    seconds = timed(lambda: store.course("vehicle 1", START, end, rows=5_000))
    print(f"its course {seconds * 1e3:.1f} ms", end=", ")
    size, half = store.size(), (end - START) // 2
    seconds = timed(lambda: store.prune(now=end, keep=half, keep_events=half, max_size=10**12))
    print(
        f"prune {seconds * 1e3:.0f} ms, {size / 1e6:.0f} MB before, {store.size() / 1e6:.0f} after"
    )
    store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vehicles", type=int, default=256)
    parser.add_argument("--samples", type=int, default=5, help="of a vehicle in a commit")
    parser.add_argument("--channels", type=int, default=19)
    parser.add_argument("--state", type=int, default=30_000, help="bytes of a snapshot")
    parser.add_argument("--commits", type=int, default=100)
    parser.add_argument("--url", default="", help="of a PostgreSQL database")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Storing(url=f"sqlite:{folder}/live.db"))
        measure("sqlite", store, args, Path(folder))
        if args.url:
            import psycopg

            measure(
                "postgresql",
                open_store(Storing(url=args.url), partition="bench"),
                args,
                Path(folder),
            )
            with psycopg.connect(args.url, autocommit=True) as connection:
                connection.execute("DROP SCHEMA axonad_live_bench CASCADE")


if __name__ == "__main__":
    main()
