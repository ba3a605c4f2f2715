"""Measure what one vehicle costs in one process of ``axonad live``, at 10 Hz with 19 channels.

    OMP_NUM_THREADS=1 python benchmarks/live/vehicle.py

Memory once its newest 600 rows are kept, the bytes of its stored state and course, the time to
bring it back after a crash (the state, and each sample since), to read a sample from JSON, and to
find out for the open pages what has changed. Times are CPU times of this process. ``--out`` appends
the figures to a CSV file.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psutil
from fleet_load import DETECTORS, HERTZ, Load, append, fit

from axonad.live.config import Input, LiveConfig, Storing
from axonad.live.engine.contract import Health, Mark
from axonad.live.engine.status import statuses
from axonad.live.packing import pack_course
from axonad.live.record import EventRecord, VehicleStatus
from axonad.live.sources.messages import parse
from axonad.live.store.choose import open_store
from axonad.live.store.contract import Commit
from axonad.live.watch import RECENT, Watch
from axonad.live.web.fleet_topic import FleetTopic


class Shown:
    """As much of an engine as the page's list of vehicles looks at."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def vehicles(self) -> list[VehicleStatus]:
        return statuses(self.watch.vehicles, {}, now=0.0, silent=1e9)

    def health(self) -> Health:
        return Health(is_ready=True)

    def changes(self, after: Mark | None, *, limit: int) -> tuple[list[EventRecord], Mark]:
        return [], (0,)


def timed(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def measure(args: argparse.Namespace, folder: Path) -> dict[str, object]:
    detector, load = fit(args.detector), Load(args.vehicles)
    config = LiveConfig(
        input=Input(max_ahead="1d"),
        store=Storing(url=f"sqlite:{folder}/live.db", snapshot_rows=600),
    )
    watch = Watch(detector, config.input, snapshot_rows=600)
    store = open_store(config.store)
    store.start(model="model")

    def drive(first: int, last: int) -> None:
        nonlocal number
        for second in range(first, last):
            for delivery in load.second(second):
                number += 1
                store.commit(watch.commit(watch.take([delivery]), number=number))

    number = 0
    drive(0, 2)
    few = watch.vehicles.copy()
    watch = Watch(detector, config.input, snapshot_rows=600)
    del few
    gc.collect()
    resident = psutil.Process().memory_info().rss
    seconds = RECENT // HERTZ
    scoring = timed(lambda: drive(2, 2 + seconds)) / (args.vehicles * seconds * HERTZ)
    gc.collect()
    resident = psutil.Process().memory_info().rss - resident
    rows = [vehicle.recent.course(100) for vehicle in watch.vehicles.values()]
    course = sum(len(pack_course(row)) for row in rows) / len(rows)
    snapshots = [watch.snapshot(vehicle) for vehicle in watch.vehicles.values()]
    state = sum(len(snapshot.state) for snapshot in snapshots) / len(snapshots)
    store.commit(Commit(number := number + 1, snapshots=snapshots))

    def resume() -> float:
        fresh = Watch(detector, config.input)
        saved = {name: store.saved(name) for name in load.names}
        return timed(lambda: fresh.resume(saved)) + timed(
            lambda: [store.saved(name) for name in load.names]
        )

    bare = resume()
    drive(2 + seconds, 2 + seconds + args.tail)
    tailed = resume()
    store.close()
    topic = FleetTopic(Shown(watch), started="")
    texts = [_json(delivery.samples) for delivery in load.second(0)]
    count = args.vehicles * HERTZ
    reading = timed(lambda: [parse(text, arrival=0) for text in texts for _ in range(10)])
    vehicles = args.vehicles
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": args.machine,
        "detector": args.detector,
        "vehicles": vehicles,
        "vehicle_kb": round(resident / vehicles / 1e3, 1),
        "state_bytes": round(state),
        "course_bytes_per_row": round(course / 100, 1),
        "local_us": round(scoring * 1e6, 1),
        "resume_us": round(bare / vehicles * 1e6),
        "replay_us": round((tailed - bare) / (vehicles * args.tail * HERTZ) * 1e6, 1),
        "json_us": round(reading / (10 * count) * 1e6, 1),
        "json_bytes": round(sum(map(len, texts)) / count),
        "page_us": round(timed(topic.whole) / vehicles * 1e6, 1),
    }


def _json(samples: list) -> bytes:
    items = [{"vehicle": s.vehicle, "time": s.time / 1e6, "values": s.values} for s in samples]
    short = json.loads(json.dumps(items), parse_float=lambda text: round(float(text), 4))
    return json.dumps(short).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vehicles", type=int, default=200)
    parser.add_argument("--tail", type=int, default=5, help="seconds of samples to replay")
    parser.add_argument("--detector", choices=list(DETECTORS), default="CrossChannelRidge")
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--out", type=Path, help="CSV file to append to")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        row = measure(args, Path(folder))
    print("  ".join(f"{name} {value}" for name, value in row.items()))
    if args.out:
        append(args.out, row)


if __name__ == "__main__":
    main()
