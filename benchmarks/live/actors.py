"""Measure the Ray engine of ``axonad live``: samples per second and costs, by number of actors.

    OMP_NUM_THREADS=1 python benchmarks/live/actors.py --actors 1 2
    OMP_NUM_THREADS=1 python benchmarks/live/actors.py --actors 1 2 4 8 --vehicles 1600

A fleet at 10 Hz with 19 channels sends as fast as the engine takes it, into stores of SQLite. Each
number of actors has a new cluster, on this machine. Besides throughput, which suffers from other
work on the machine, the CPU time of a sample is given for each kind of process: the actors, which
score and store; the driver with the sources, which cuts, packs and sends (making up the samples is
not counted); Ray's own processes. ``single_ms`` is the time until a single sample is stored; with
``--commit-every 0s`` it is what a round costs apart from its samples. ``--out`` appends the
figures to a CSV file.
"""

from __future__ import annotations

import argparse
import os
import pickle
import platform
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Semaphore
from typing import Any

import psutil
from fleet_load import DETECTORS, HERTZ, Load, append, files_of, fit

from axonad.live.config import Engine, Input, LiveConfig, Storing
from axonad.live.engine.ray_cluster import RayEngine
from axonad.live.engine.status import describe_model
from axonad.live.sample import Delivery, Receipt, Sample


class Sender:
    """Submits deliveries and waits until they are stored."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.taken = Semaphore(0)
        self.accepted = 0

    def done(self, receipt: Receipt) -> None:
        assert not receipt.error and not receipt.refused, receipt
        self.accepted += receipt.accepted
        self.taken.release()

    def send(self, deliveries: list[Delivery]) -> None:
        for delivery in deliveries:
            self.engine.submit(Delivery(delivery.samples, "load", self.done), timeout=600)

    def wait(self, count: int) -> None:
        for _ in range(count):
            assert self.taken.acquire(timeout=600), "a delivery was not stored"


def timed(sender: Sender, sample: Sample) -> float:
    """Return the seconds until one sample is stored."""
    began = time.perf_counter()
    sender.send([Delivery([sample], "load")])
    sender.wait(1)
    return time.perf_counter() - began


def cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def others(actors: list[psutil.Process]) -> float:
    """Return the CPU time of Ray's own processes."""
    total, pids = 0.0, {process.pid for process in actors}
    for child in psutil.Process().children(recursive=True):
        try:
            total += 0.0 if child.pid in pids else cpu(child)
        except psutil.Error:
            continue
    return total


def measure(actors: int, model: Any, files: Any, args: argparse.Namespace) -> dict[str, Any]:
    import ray

    load = Load(args.vehicles)
    with tempfile.TemporaryDirectory() as folder:
        config = LiveConfig(
            input=Input(max_ahead="1d", queue=50_000 * actors, commit_every=args.commit_every),
            store=Storing(url=f"sqlite:{folder}/live.db"),
            engine=Engine(kind="ray", actors=actors),
        )
        engine = RayEngine(model, files, config)
        engine.start()
        pids = ray.get([lane.actor.ready.remote() for lane in engine._lanes])
        processes = [psutil.Process(pid) for pid in pids]
        empty = sum(process.memory_info().rss for process in processes)
        sender = Sender(engine)
        for number in range(args.warm):
            deliveries = list(load.second(number))
            sender.send(deliveries)
            sender.wait(len(deliveries))
        work = [d for n in range(args.warm, args.warm + args.seconds) for d in load.second(n)]
        samples = sum(len(delivery.samples) for delivery in work)
        before = [cpu(process) for process in processes]
        written = sum(process.io_counters().write_bytes for process in processes)
        own, daemons = time.process_time(), others(processes)
        began = time.perf_counter()
        sender.send(work)
        sender.wait(len(work))
        wall = time.perf_counter() - began
        spent = [cpu(process) - known for process, known in zip(processes, before, strict=True)]
        driver, daemons = time.process_time() - own, others(processes) - daemons
        written = sum(process.io_counters().write_bytes for process in processes) - written
        last = (args.warm + args.seconds) * HERTZ
        single = [timed(sender, load.sample(0, last + number)) for number in range(30)]
        packed = [[(s.vehicle, s.time, dict(s.values)) for s in d.samples] for d in work[:20]]
        wire = len(pickle.dumps(packed, protocol=5)) / sum(len(d.samples) for d in work[:20])
        engine.stop()
        kept = sum(path.stat().st_size for path in Path(folder).glob("live-*.db"))
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": args.machine,
        "cores": os.cpu_count(),
        "detector": args.detector,
        "actors": actors,
        "vehicles": args.vehicles,
        "samples": samples,
        "samples_per_s": round(samples / wall),
        "actor_us": round(sum(spent) / samples * 1e6, 1),
        "driver_us": round(driver / samples * 1e6, 1),
        "ray_us": round(daemons / samples * 1e6, 1),
        "actor_busy": round(sum(spent) / wall / actors, 2),
        "busiest": round(max(spent) / sum(spent) * actors, 2),
        "single_ms": round(statistics.median(single) * 1e3, 1),
        "actor_mb": round(empty / actors / 1e6),
        "wire_bytes": round(wire),
        "written_bytes": round(written / samples),
        "kept_bytes": round(kept / sender.accepted),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--vehicles", type=int, default=400)
    parser.add_argument("--seconds", type=int, default=20, help="of driving that are measured")
    parser.add_argument("--warm", type=int, default=12, help="seconds before that")
    parser.add_argument("--detector", choices=list(DETECTORS), default="CrossChannelRidge")
    parser.add_argument("--commit-every", default="100ms")
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--out", type=Path, help="CSV file to append to")
    args = parser.parse_args()
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    detector = fit(args.detector)
    model, files = describe_model(detector), files_of(detector)
    first: dict[str, Any] = {}
    for actors in args.actors:
        row = measure(actors, model, files, args)
        first = first or row
        ratio = row["samples_per_s"] / first["samples_per_s"]
        print(f"{ratio:5.2f} x  " + "  ".join(f"{k} {v}" for k, v in row.items()), flush=True)
        if args.out:
            append(args.out, row)


if __name__ == "__main__":
    main()
