"""Break `axonad live` while a fleet sends, and compare what is stored with an unbroken run.

    python benchmarks/live/faults.py                       # all scenarios, a few kills of each
    python benchmarks/live/faults.py server-http --kills 200
    python benchmarks/live/faults.py cut --cut 60

A fleet of simulated cars with planted faults sends by HTTP, MQTT or NATS JetStream to a server of
its own, faster than the data's own time. At random moments something is killed with SIGKILL and
started again; one kill of the server in five comes while it still starts. The client sends again
what was not acknowledged. Afterwards all events, all courses of scores and values and all notices
must be those of a run in which nothing was killed. Exit code 1 if they are not.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from fleet import Fleet, make_fleet, save_model
from senders import HttpSender, MqttSender, NatsSender, Sender, follow
from servers import Broker, Postgres, Proxy, Receiver, Server, wait_for

from axonad.live.config import Input, LiveConfig, Storing
from axonad.live.engine.local import LocalEngine
from axonad.live.record import Course, EventQuery, EventRecord
from axonad.live.sample import Delivery, Receipt
from axonad.live.sources.messages import parse
from axonad.live.store.choose import open_store
from axonad.live.store.memory import MemoryStore
from axonad.registry import load

FOREVER = 2**62
TOLERANCE = 1e-4  # of scores, relative: after a restart windows are loaded whole, not row by row
SETTINGS = {"commit_every": "20ms", "max_ahead": "1h"}
SNAPSHOT_ROWS = 25


@dataclass
class Outcome:
    """What a run leaves: events, courses by vehicle, and how often each notice was told."""

    events: list[EventRecord]
    courses: dict[str, Course | None]
    told: Counter[str]
    report: dict[str, object] = field(default_factory=dict)


def read_outcome(url: str, model: str, fleet: Fleet, told: Counter[str]) -> Outcome:
    store = open_store(Storing(url=url))
    store.start(model=model)
    try:
        courses = {name: store.course(name, 0, FOREVER, rows=10**6) for name in fleet.rows}
        return Outcome(store.events(EventQuery(limit=10**6)), courses, told)
    finally:
        store.close()


def compare(found: Outcome, expected: Outcome) -> list[str]:
    """Return what differs, as sentences."""
    wrong = []
    # a sentence tells what was known when it was made, at a time of its own
    plain = [replace(event, changed=0, score=0.0, sentence="") for event in found.events]
    wanted = [replace(event, changed=0, score=0.0, sentence="") for event in expected.events]
    if plain != wanted:
        odd = [event for event in plain if event not in wanted]
        missing = [event for event in wanted if event not in plain]
        wrong.append(f"{len(odd)} events are other ones, such as {odd[:1]}; missing {missing[:1]}")
    else:
        scores = [(e.score, f.score) for e, f in zip(found.events, expected.events, strict=True)]
        odd = [pair for pair in scores if not np.isclose(*pair, rtol=TOLERANCE, equal_nan=True)]
        if odd:
            wrong.append(f"{len(odd)} scores of events differ, such as {odd[0]}")
    for name, right in expected.courses.items():
        course = found.courses[name]
        if course is None or right is None:
            wrong.append(f"{name} has no course")
            continue
        if not np.array_equal(course.times, right.times):
            wrong.append(f"{name} has {len(course)} rows, not {len(right)}, or others")
        elif not np.array_equal(course.values, right.values, equal_nan=True):
            wrong.append(f"the values of {name} differ")
        elif not np.allclose(course.scores, right.scores, rtol=TOLERANCE, equal_nan=True):
            wrong.append(f"the scores of {name} differ")
        elif not np.array_equal(course.alarms, right.alarms):
            wrong.append(f"the alarms of {name} differ")
    if set(found.told) != set(expected.told):
        odd, missing = set(found.told) - set(expected.told), set(expected.told) - set(found.told)
        wrong.append(f"{len(odd)} notices too many, {len(missing)} missing")
    return wrong


class Scenario:
    """One fleet, one way to send, one store, and something that is killed or cut."""

    def __init__(self, args: argparse.Namespace, fleet: Fleet, model: Path, source: str) -> None:
        self.args, self.fleet, self.model, self.source = args, fleet, model, source
        self.random = random.Random(args.seed)  # noqa: S311
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.fingerprint = load(model).fingerprint
        self.receiver = Receiver()
        self.url = f"sqlite:{self.folder}/live.db"
        self.broker = Broker(source, self.folder) if source != "http" else None
        self.proxy: Proxy | None = None
        self.done = 0  # blocks in which the fault has happened
        self.expected: set[str] = set()  # notices, if they are known
        self._turn = threading.Condition()

    def start(self, *, proxied: bool = False) -> None:
        config: dict[str, dict[str, object]] = {
            "input": dict(SETTINGS),
            "store": {"url": self.url, "snapshot_rows": SNAPSHOT_ROWS},
            "server": {"rate": 0.0},
            "webhook": {"url": self.receiver.url},
        }
        if self.broker is not None:
            self.broker.start()
            self.broker.wait()
            port = self.broker.port
            if proxied:
                self.proxy = Proxy(port)
                port = self.proxy.port
            scheme = "mqtt" if self.source == "mqtt" else "nats"
            config[scheme] = {"url": f"{scheme}://127.0.0.1:{port}"}
        self.server = Server(self.model, self.folder, config)
        if self.broker is None and proxied:
            self.proxy = Proxy(self.server.port)
        self.server.start()
        self.server.wait()
        self.sender = self._sender()
        if self.broker is not None:
            self._wait_for_session()

    def _sender(self) -> Sender:
        if self.broker is None:
            port = self.server.port if self.proxy is None else self.proxy.port
            return HttpSender(self.fleet, port=port)
        if self.source == "mqtt":
            return MqttSender(self.fleet, port=self.broker.port, server=self.server)
        return NatsSender(self.fleet, port=self.broker.port)

    def _wait_for_session(self) -> None:
        """Wait until the server has subscribed; before, brokers throw messages away."""
        wait_for(lambda: b"connected to" in self.server.log.read_bytes(), "the subscription")
        time.sleep(1.0)

    def gate(self, number: int) -> None:
        """Let the client be one block ahead of the faults at most."""
        with self._turn:
            while number > self.done + 1:
                self._turn.wait()

    def pass_turn(self) -> None:
        with self._turn:
            self.done += 1
            self._turn.notify_all()

    def run(self, faults: int, break_it: object, *, proxied: bool = False) -> Outcome:
        began = time.monotonic()
        self.start(proxied=proxied)
        blocks = [round(self.fleet.length * (i + 1) / (faults + 1)) for i in range(faults + 1)]
        thread = follow(self.sender, self.gate, blocks)
        for number in range(faults):
            first = blocks[number - 1] if number else 0
            wait_for(lambda first=first: self.sender.place >= first, "the client", seconds=600)
            time.sleep(self.random.uniform(0.0, 0.15))
            break_it(self)  # type: ignore[operator]
            self.pass_turn()
            print(f"\r{number + 1} of {faults} ", end="", file=sys.stderr, flush=True)
        self.done = 10**9
        self.pass_turn()
        thread.join()
        self.server.wait()
        self._wait_until_told()
        code = self.server.stop()
        self.sender.close()
        outcome = read_outcome(self.url, self.fingerprint, self.fleet, self.receiver.told)
        twice = sum(count - 1 for count in self.receiver.told.values())
        outcome.report = {
            "exit": code,
            "events": len(outcome.events),
            "messages": self.sender.sent,
            "sent again": self.sender.again,
            "notices": len(self.receiver.told),
            "told twice": twice,
            "seconds": round(time.monotonic() - began),
        }
        return outcome

    def _wait_until_told(self) -> None:
        """Wait until notices are told and nothing more comes; a sink pauses for up to a minute."""
        wait_for(lambda: self.expected <= set(self.receiver.told), "the notices", seconds=150)
        last, since = -1.0, time.monotonic()
        while time.monotonic() - since < 3.0:
            now = self.server.metric("counts_total") + self.server.metric("queue_samples")
            now += sum(self.receiver.told.values())
            if now != last:
                last, since = now, time.monotonic()
            time.sleep(0.2)

    def close(self) -> None:
        self.server.stop()
        if self.broker is not None:
            self.broker.stop()
        self.receiver.shutdown()
        self._folder.cleanup()


# -- what is broken -----------------------------------------------------------------------------


def kill_server(scenario: Scenario) -> None:
    server = scenario.server
    server.kill()
    server.start()
    if scenario.random.random() < 0.2:  # once more, while it starts
        time.sleep(scenario.random.uniform(0.0, 3.0))
        server.kill()
        server.start()
    server.wait()


def kill_broker(scenario: Scenario) -> None:
    assert scenario.broker is not None
    scenario.broker.kill()
    time.sleep(scenario.random.uniform(0.0, 0.3))
    scenario.broker.start()
    scenario.broker.wait()


def cut_network(scenario: Scenario) -> None:
    assert scenario.proxy is not None
    scenario.proxy.cut.set()
    time.sleep(scenario.args.cut)
    scenario.proxy.cut.clear()


class KillPostgres:
    """Kills the process that serves the server, or the postmaster, in turn at random."""

    def __init__(self, cluster: Postgres) -> None:
        self._cluster = cluster

    def __call__(self, scenario: Scenario) -> None:
        self._cluster.kill(backend=scenario.random.random() < 0.5)


class JumpingClock:
    """A server's clock that is set to somewhere within three days before every round."""

    def __init__(self, seed: int, jumps: int) -> None:
        self._random, self.left, self._offset = random.Random(seed), jumps, 0.0  # noqa: S311

    def now(self) -> float:
        return time.time() + self._offset

    def monotonic(self) -> float:
        return time.monotonic()

    def jump(self) -> None:
        if self.left:
            self.left -= 1
            self._offset = self._random.uniform(-3, 3) * 86_400


def run_clock(args: argparse.Namespace, fleet: Fleet, model: Path) -> list[str]:
    """Score the fleet in this process with and without jumps; return what differs."""
    detector, outcomes = load(model), []
    for jumps in (0, args.jumps):
        store, clock = MemoryStore(), JumpingClock(args.seed, jumps)
        config = LiveConfig(
            input=Input(commit_every="0s"), store=Storing(snapshot_rows=SNAPSHOT_ROWS)
        )
        engine = LocalEngine(detector, store, config, clock=clock)  # type: ignore[arg-type]
        engine.start()
        block = max(1, fleet.length // (args.jumps + 1))
        for first in range(0, fleet.length, block):
            if first:
                clock.jump()
                engine._cleaned = -1e9  # housekeeping with the new time
            for vehicle in fleet.rows:
                done = threading.Event()
                samples = parse(fleet.message(vehicle, first, first + block), arrival=0)
                engine.submit(Delivery(samples, "test", _setter(done)))
                done.wait()
        engine.stop()
        told = Counter(notice.id for _, notice in store.notices("x", limit=10**6))
        courses = {name: store.course(name, 0, FOREVER, rows=10**6) for name in fleet.rows}
        outcomes.append(Outcome(store.events(EventQuery(limit=10**6)), courses, told))
        if clock.left:
            return [f"{clock.left} jumps are left"]
    return compare(outcomes[1], outcomes[0])


def _setter(event: threading.Event) -> object:
    def done(receipt: Receipt) -> None:
        event.set()

    return done


# -- scenarios ----------------------------------------------------------------------------------

SCENARIOS = {
    "server-http": ("http", kill_server, "kills"),
    "server-mqtt": ("mqtt", kill_server, "kills"),
    "server-nats": ("nats", kill_server, "kills"),
    "broker-mqtt": ("mqtt", kill_broker, "kills"),
    "broker-nats": ("nats", kill_broker, "kills"),
    "postgres": ("http", None, "kills"),
    "cut-http": ("http", cut_network, "cuts"),
    "cut-mqtt": ("mqtt", cut_network, "cuts"),
    "cut-nats": ("nats", cut_network, "cuts"),
}


def run_scenario(
    name: str, args: argparse.Namespace, fleet: Fleet, model: Path, expected: Outcome
) -> Outcome:
    source, break_it, kind = SCENARIOS[name]
    scenario = Scenario(args, fleet, model, source)
    scenario.expected = set(expected.told)
    cluster = None
    try:
        if name == "postgres":
            cluster = Postgres(scenario.folder)
            cluster.start()
            scenario.url, break_it = cluster.url, KillPostgres(cluster)
        is_cut = kind == "cuts"
        faults = 1 if is_cut else args.kills
        outcome = scenario.run(faults, break_it, proxied=is_cut)
        kills = sum(part.kills for part in (scenario.server, scenario.broker, cluster) if part)
        outcome.report = {"kills": kills} | outcome.report
        return outcome
    finally:
        if hasattr(scenario, "server"):
            if args.keep:
                (args.keep / f"{name}.log").write_bytes(scenario.server.log.read_bytes())
            scenario.close()
        if cluster is not None:
            cluster.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", nargs="*", default=[*SCENARIOS, "clock"])
    parser.add_argument("--vehicles", type=int, default=12)
    parser.add_argument("--rows", type=int, default=0, help="of a vehicle; default: by the kills")
    parser.add_argument("--kills", type=int, default=5, help="of each scenario")
    parser.add_argument("--jumps", type=int, default=20, help="of the clock")
    parser.add_argument("--cut", type=float, default=60.0, help="seconds without network")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the logs of the server")
    args = parser.parse_args()
    rows = args.rows or max(600, 30 * args.kills)
    start = round(time.time() - rows / 10 - 60) * 1_000_000
    fleet = make_fleet(args.vehicles, rows, start=start, seed=args.seed)
    is_good = True
    with tempfile.TemporaryDirectory() as name:
        model = save_model(Path(name) / "model")
        unbroken = Scenario(args, fleet, model, "http")
        expected = unbroken.run(0, None)
        unbroken.close()
        print(json.dumps({"scenario": "unbroken"} | expected.report), flush=True)
        for scenario in args.scenario:
            if scenario == "clock":
                wrong, report = run_clock(args, fleet, model), {"jumps": args.jumps}
            else:
                outcome = run_scenario(scenario, args, fleet, model, expected)
                wrong, report = compare(outcome, expected), outcome.report
            report = {"scenario": scenario} | report | {"differs": wrong}
            print("\r" + json.dumps(report), flush=True)
            is_good = is_good and not wrong
    return not is_good


if __name__ == "__main__":
    sys.exit(main())
