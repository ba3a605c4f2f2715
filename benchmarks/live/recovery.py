"""Kill an actor of ``axonad live`` while a fleet sends, and compare with the simulation.

    OMP_NUM_THREADS=1 python benchmarks/live/recovery.py

A fleet sends at 10 Hz to two actors; one of them is killed with SIGKILL. Measured is the time until
it answers again, and until all that waited for it is stored. The first, small fleet gives the time
that a new process takes. With it, the costs of a vehicle on this machine, and how much CPU time
other work leaves, the simulation predicts both times for a larger fleet before they are measured;
the last line is measured by predicted.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import vehicle
from costs import read_costs
from fleet_load import HERTZ, Load, files_of, fit
from simulation import Setup, simulate

from axonad.live.config import Engine, Input, LiveConfig, Storing
from axonad.live.engine.partition import part_of
from axonad.live.engine.ray_cluster import RayEngine
from axonad.live.engine.status import describe_model
from axonad.live.sample import Delivery, Receipt


@dataclass
class Times:
    """What came of one delivery: seconds since the start at which it was due and stored."""

    due: float
    stored: float = float("nan")


class Drive(Thread):
    """Sends every second the samples of a second, by the clock."""

    def __init__(self, engine: RayEngine, load: Load, *, part: int, seconds: int) -> None:
        super().__init__(daemon=True)
        self.engine, self.load, self.part, self.seconds = engine, load, part, seconds
        self.times: list[Times] = []
        self.began = time.monotonic()

    def run(self) -> None:
        for tenth in range(self.seconds * HERTZ):
            time.sleep(max(0.0, self.began + tenth / HERTZ - time.monotonic()))
            for part in range(2):
                samples = [
                    self.load.sample(number, tenth)
                    for number, name in enumerate(self.load.names)
                    if part_of(name, 2) == part
                ]
                known = Times(tenth / HERTZ)
                if part == self.part:
                    self.times.append(known)
                self.engine.submit(Delivery(samples, "load", self.keeps(known)), timeout=600)

    def keeps(self, known: Times):
        def done(receipt: Receipt) -> None:
            assert not receipt.error and not receipt.refused, receipt
            known.stored = time.monotonic() - self.began

        return done


def measure(engine: RayEngine, vehicles: int, args: argparse.Namespace) -> tuple[float, float]:
    """Return seconds from the kill to the first answer, and until nothing is a second behind."""
    import ray

    load = Load(vehicles)
    part = part_of(load.names[0], 2)
    drive = Drive(engine, load, part=part, seconds=args.seconds)
    process = ray.get(engine._lanes[part].actor.ready.remote())
    drive.start()
    time.sleep(args.kill_at)
    os.kill(process, signal.SIGKILL)
    killed = time.monotonic() - drive.began
    drive.join()
    while any(one.stored != one.stored for one in drive.times):
        time.sleep(0.1)
    after = [one for one in drive.times if one.stored > killed + 0.05]
    behind = [one.stored for one in after if one.stored - one.due > 1.0]
    return min(one.stored for one in after) - killed, max(behind, default=killed) - killed


def crowding() -> float:
    """Return the seconds in which this machine gives a busy process one second of CPU time."""
    began, spent = time.perf_counter(), time.process_time()
    while time.process_time() - spent < 1.0:
        pass
    return time.perf_counter() - began


def run(vehicles: int, args: argparse.Namespace, model, files) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        config = LiveConfig(
            input=Input(max_ahead="1d"),
            store=Storing(url=f"sqlite:{folder}/live.db"),
            engine=Engine(kind="ray", actors=2),
        )
        engine = RayEngine(model, files, config)
        engine.start()
        try:
            return measure(engine, vehicles, args)
        finally:
            engine.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vehicles", type=int, nargs=2, default=[10, 600])
    parser.add_argument("--kill-at", type=float, default=15.0, help="seconds after the start")
    parser.add_argument("--seconds", type=int, default=30)
    args = parser.parse_args()
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    with tempfile.TemporaryDirectory() as folder:
        asked = argparse.Namespace(
            vehicles=100, tail=5, detector="CrossChannelRidge", machine="this one"
        )
        costs = vehicle.measure(asked, Path(folder))
    detector = fit("CrossChannelRidge")
    model, files = describe_model(detector), files_of(detector)
    few, many = args.vehicles
    answered, caught_up = run(few, args, model, files)
    print(f"{few} vehicles: first answer {answered:.2f} s, caught up {caught_up:.2f} s", flush=True)
    slow = crowding()
    print(f"a second of CPU time takes {slow:.2f} s on this machine now")
    setup = Setup(
        vehicles=many, parts=2, cores=1, spare=1, uneven=0.0, load=1.0, detect=0.0,
        restart=answered, lost_at=args.kill_at, until=args.kill_at + 60,
        sample=costs["local_us"] * 1e-6 * slow, resume=costs["resume_us"] * 1e-6 * slow,
        replay=costs["replay_us"] * 1e-6 * slow, round=read_costs().round_ms * 1e-3,
    )  # fmt: skip
    result = simulate(setup)
    predicted = result.up_again[0] - args.kill_at, result.recovery()
    print(f"{many} vehicles, predicted: {predicted[0]:.2f} s and {predicted[1]:.2f} s", flush=True)
    found = run(many, args, model, files)
    print(f"{many} vehicles, measured: {found[0]:.2f} s and {found[1]:.2f} s")
    ratios = [seen / said for seen, said in zip(found, predicted, strict=True)]
    print(f"measured / predicted: {ratios[0]:.2f} and {ratios[1]:.2f}")


if __name__ == "__main__":
    main()
