"""CPU time of scoring and storing a fleet in one process, without a network.

    OMP_NUM_THREADS=1 python benchmarks/live/throughput.py
    OMP_NUM_THREADS=1 python benchmarks/live/throughput.py --profile --models views

Samples of 256 vehicles with 19 channels go through the same code as in the server: raster, scores,
alarms, commits to SQLite. ``parse`` is the time to read them from JSON messages of one row each,
as MQTT and NATS bring them. Times are CPU time of the process (one thread), so that other work on
the machine matters little; disk waits are not in it.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import tempfile
import time
from pathlib import Path

from fleet import NAMES, STEP, Fleet, make_fleet, save_model

from axonad.live.config import Input, Storing
from axonad.live.sample import Delivery
from axonad.live.sources.messages import parse
from axonad.live.store.choose import open_store
from axonad.live.watch import Watch
from axonad.registry import load

MODELS = {
    "ridge": ("CrossChannelRidge", {}),
    "views": ("MultiView", {"views": ("forecast", "relation")}),
    "whole": ("MultiView", {"epochs": 1}),
}


def messages_of(fleet: Fleet, row: int) -> list[bytes]:
    begin = {"time": (fleet.start + row * STEP) / 1e6}
    found = []
    for vehicle, rows in fleet.rows.items():
        values = dict(zip(NAMES, rows[row].tolist(), strict=True))
        found.append(json.dumps({"vehicle": vehicle} | begin | values).encode())
    return found


def measure(name: str, args: argparse.Namespace, fleet: Fleet, folder: Path) -> None:
    detector, options = MODELS[name]
    model = load(save_model(folder / name, name=detector, **options))
    if "verbose" in model.get_params():
        model.set_params(verbose=False)
    store = open_store(Storing(url=f"sqlite:{folder}/{name}.db"))
    number = store.start(model=name)
    watch = Watch(model, Input())
    spent = {"parse": 0.0, "score": 0.0, "store": 0.0}
    samples = events = 0
    warm = fleet.length // 3
    profile = cProfile.Profile() if args.profile else None
    for first in range(0, fleet.length, args.per_round):
        texts = [
            text
            for row in range(first, min(first + args.per_round, fleet.length))
            for text in messages_of(fleet, row)
        ]
        if profile and first >= warm:
            profile.enable()
        began = time.process_time()
        found = [sample for text in texts for sample in parse(text, arrival=0)]
        parsed = time.process_time()
        work = watch.take([Delivery(found, "bench")])
        number += 1
        commit = watch.commit(work, number=number)
        scored = time.process_time()
        store.commit(commit)
        stored = time.process_time()
        if profile:
            profile.disable()
        if first < warm:
            continue
        samples += len(found)
        events += len(commit.events)
        spent["parse"] += parsed - began
        spent["score"] += scored - parsed
        spent["store"] += stored - scored
    store.close()
    per = {key: value / samples * 1e6 for key, value in spent.items()}
    inside = per["score"] + per["store"]
    print(
        f"{name:6} {args.per_round:3} rows/round: {1e6 / inside:8,.0f} samples/s/core "
        f"({1e6 / sum(per.values()):,.0f} with parsing), µs/sample: "
        + ", ".join(f"{key} {value:.1f}" for key, value in per.items())
        + f"; {samples:,} samples, {events} changes of events",
        flush=True,
    )
    if profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(args.lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=["views", "whole"], choices=MODELS)
    parser.add_argument("--vehicles", type=int, default=256)
    parser.add_argument("--rows", type=int, default=300, help="the first third is not measured")
    parser.add_argument("--per-round", type=int, default=1, help="rows of a vehicle in a commit")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--folder", type=Path, help="where models are kept")
    args = parser.parse_args()
    start = round(time.time() - args.rows / 10 - 60) * 1_000_000
    fleet = make_fleet(args.vehicles, args.rows, start=start)
    with tempfile.TemporaryDirectory() as name:
        folder = args.folder or Path(name)
        folder.mkdir(exist_ok=True)
        for model in args.models:
            measure(model, args, fleet, folder)


if __name__ == "__main__":
    main()
