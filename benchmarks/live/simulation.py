"""Simulate a fleet on many machines: uneven parts, a lost machine, how far behind samples get.

    python benchmarks/live/simulation.py
    python benchmarks/live/simulation.py --vehicles 1000000 --spare 0

A discrete-event simulation of ``axonad live`` on a cluster, with the costs that were measured on
one machine (``costs.csv``). Each part of the fleet is served as its actor does it: a round takes
what waits, at most ``batch`` samples, scores and stores it, and begins not sooner than
``commit_every`` after the one before. Vehicles are spread by hash, so parts differ in size, and
vehicles differ in how much they send. A machine is lost: its rounds stop, what they had not stored
is served again. After the detection time its parts start on spare machines, or crowd the others;
they resume their vehicles from the store, replay the samples since the last snapshot, and catch up.
Samples beyond the queue of the server wait at the broker (back-pressure); none is lost.

The result depends on the arguments and the seed alone.
"""

from __future__ import annotations

import argparse
import heapq
from dataclasses import dataclass, field, replace

import numpy as np
from costs import read_costs
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What is simulated; times in seconds, costs of one core."""

    vehicles: int = 1_000_000
    hertz: float = 10.0
    uneven: float = 0.5  # standard deviation of the rate of vehicles, relative to its mean
    sample: float = 60e-6  # CPU time to score and store a sample
    round: float = 10e-3  # time of a round apart from its samples: commit, transfer
    commit_every: float = 0.1
    batch: int = 20_000
    queue: int = 50_000  # samples of a part that wait at the server; more stay at the broker
    load: float = 0.6  # share of a core that a part of average size keeps busy
    cores: int = 16  # of a machine
    spare: int = 1  # machines without work
    lose: int = 1  # machines lost, at once
    lost_at: float = 60.0
    detect: float = 10.0  # until the loss is noticed
    restart: float = 3.0  # until a new process has loaded the model
    resume: float = 1.75e-3  # CPU time to bring back a vehicle
    replay: float = 56e-6  # CPU time to score a stored sample again
    snapshot_rows: int = 100  # a crash finds half of them to replay, on average
    parts: int = 0  # 0: as many as the load asks for
    until: float = 240.0
    seed: int = 0

    @property
    def part_count(self) -> int:
        """Return the number of parts."""
        wanted = self.vehicles * self.hertz * self.sample / self.load
        return self.parts or max(1, int(np.ceil(wanted)))


@dataclass
class Part:
    """One part of the fleet: its samples in order of arrival, as times."""

    rate: float  # samples per second
    vehicles: int
    machine: int
    served: float = 0.0  # samples that arrived before this time are stored
    began: float = -1e9  # of the last round
    turn: int = 0  # counts lives; rounds of an earlier one are void
    is_up: bool = True


@dataclass
class Result:
    """What came out: rounds as (first arrival, last arrival, stored, samples, part was lost)."""

    setup: Setup
    parts: list[Part]
    rounds: list[tuple[float, float, float, float, bool]] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    up_again: list[float] = field(default_factory=list)
    most_waiting: float = 0.0
    most_at_broker: float = 0.0

    def lags(self, *, lost: bool, shares: tuple[float, ...] = (0.5, 0.99, 1.0)) -> list[float]:
        """Return percentiles of the time from arrival to store, of lost parts or the others."""
        kept = np.array([r[:4] for r in self.rounds if r[4] == lost and r[3] > 0])
        if not len(kept):
            return [0.0] * len(shares)
        first, last, stored, count = kept.T
        steps = (np.arange(10) + 0.5) / 10  # arrivals are even within a round
        lag = (stored - first)[:, None] - (last - first)[:, None] * steps
        weight = np.repeat(count / 10, 10)
        order = np.argsort(lag.ravel(), kind="stable")
        total = np.cumsum(weight[order])
        lag = lag.ravel()[order]
        places = np.searchsorted(total, np.array(shares) * total[-1])
        found = [float(lag[min(place, len(lag) - 1)]) for place in places]
        return [
            float((stored - first).max()) if s == 1 else f
            for s, f in zip(shares, found, strict=True)
        ]

    def recovery(self, *, limit: float = 1.0) -> float:
        """Return seconds from the loss until no lost part is more than ``limit`` behind."""
        behind = [stored for first, _, stored, _, lost in self.rounds if lost and
                  stored >= self.setup.lost_at and stored - first > limit]  # fmt: skip
        return max(behind, default=self.setup.lost_at) - self.setup.lost_at


def spread(setup: Setup) -> list[Part]:
    """Return the parts of a fleet, filled by hash, on machines one after another."""
    rng = np.random.default_rng(setup.seed)
    count = setup.part_count
    sizes: NDArray[np.int64] = rng.multinomial(setup.vehicles, np.full(count, 1 / count))
    if setup.uneven:
        shape = 1 / setup.uneven**2  # rates of vehicles follow a gamma distribution of mean 1
        rates = rng.gamma(np.maximum(shape * sizes, 1e-9)) / shape
    else:
        rates = sizes.astype(float)
    return [
        Part(rate=float(rate) * setup.hertz, vehicles=int(size), machine=number // setup.cores)
        for number, (rate, size) in enumerate(zip(rates, sizes, strict=True))
    ]


class Simulation:
    """Runs a setup event by event."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.parts = setup, spread(setup)
        self.machines = -(-len(self.parts) // setup.cores)
        self.at: dict[int, int] = {}  # parts on each machine
        for part in self.parts:
            self.at[part.machine] = self.at.get(part.machine, 0) + 1
        self.result = Result(setup, self.parts)
        self.events: list[tuple[float, int, int, int]] = []  # time, order, part, its life
        self.order = 0
        self.under_way: dict[int, tuple[float, float, float]] = {}  # arrivals of a round, begin

    def run(self) -> Result:
        """Return the result."""
        setup = self.setup
        phases = np.random.default_rng([setup.seed, 1]).random(len(self.parts))
        for number, phase in enumerate(phases):
            self.plan(float(phase) * setup.commit_every, number)
        is_lost = setup.lose == 0
        while self.events and self.events[0][0] < setup.until:
            if not is_lost and self.events[0][0] >= setup.lost_at:
                is_lost = True
                self.lose()
                continue
            now, _, number, turn = heapq.heappop(self.events)
            if turn == self.parts[number].turn:
                self.advance(now, number)
        return self.result

    def plan(self, time: float, number: int) -> None:
        """Let a part be looked at then."""
        self.order += 1
        heapq.heappush(self.events, (time, self.order, number, self.parts[number].turn))

    def advance(self, now: float, number: int) -> None:
        """End the round of a part that is under way, then begin the next one."""
        part, setup = self.parts[number], self.setup
        if not part.is_up:  # it has resumed
            part.is_up = True
            self.result.up_again.append(now)
        if number in self.under_way:
            first, last, _ = self.under_way.pop(number)
            lost = number in self.result.lost
            count = (last - first) * part.rate
            self.result.rounds.append((first, last, now, count, lost))
            part.served = last
        begin = max(now, part.began + setup.commit_every)
        if begin > now:
            self.plan(begin, number)
            return
        waiting = (now - part.served) * part.rate
        self.result.most_waiting = max(self.result.most_waiting, waiting)
        self.result.most_at_broker = max(self.result.most_at_broker, waiting - setup.queue)
        taken = min(waiting, setup.batch)
        part.began = now
        self.under_way[number] = (part.served, part.served + taken / max(part.rate, 1e-12), now)
        self.plan(now + (setup.round + taken * setup.sample) * self.crowding(part), number)

    def crowding(self, part: Part) -> float:
        """Return by how much parts that share the cores of a machine slow each other down."""
        return max(1.0, self.at[part.machine] / self.setup.cores)

    def lose(self) -> None:
        """Lose machines, drawn by the seed, and start their parts elsewhere."""
        setup, rng = self.setup, np.random.default_rng([self.setup.seed, 2])
        gone = set(rng.choice(self.machines, size=min(setup.lose, self.machines), replace=False))
        lost = [n for n, part in enumerate(self.parts) if part.machine in gone]
        left = [m for m in range(self.machines) if m not in gone]
        left += [self.machines + number for number in range(setup.spare)]
        self.result.lost = lost
        for number in lost:
            part = self.parts[number]
            part.turn += 1  # a round under way is void: its samples are served again
            part.is_up = False
            self.under_way.pop(number, None)
            self.at[part.machine] -= 1
            new = min(left, key=lambda machine: self.at.get(machine, 0)) if left else part.machine
            part.machine = new
            self.at[new] = self.at.get(new, 0) + 1
        tail = setup.snapshot_rows / 2
        for number in lost:
            part = self.parts[number]
            work = part.vehicles * (setup.resume + tail * setup.replay)
            again = setup.lost_at + setup.detect + setup.restart + work * self.crowding(part)
            self.plan(again, number)


def simulate(setup: Setup) -> Result:
    """Return the result of a setup."""
    return Simulation(setup).run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("vehicles", "cores", "spare", "lose", "parts", "seed"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("load", "detect", "uneven", "until"):
        parser.add_argument(f"--{name}", type=float)
    args = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    costs = read_costs()
    setup = Setup(
        sample=costs.actor_us * 1e-6, resume=costs.resume_us * 1e-6, replay=costs.replay_us * 1e-6,
        restart=costs.restart_s, round=costs.round_ms * 1e-3,
    )  # fmt: skip
    sizes = (10_000, 100_000, 1_000_000)
    print("vehicles  parts machines  uneven | lag in s, not lost: p50 p99 max | lost parts: p50 p99"
          " max, back after | waiting, at the broker")  # fmt: skip
    for vehicles in [args.pop("vehicles")] if "vehicles" in args else sizes:
        for spare in [args["spare"]] if "spare" in args else (1, 0):
            one = replace(setup, **(args | {"vehicles": vehicles, "spare": spare}))
            result = simulate(one)
            parts = len(result.parts)
            rates = [part.rate for part in result.parts]
            calm, hit = result.lags(lost=False), result.lags(lost=True)
            print(
                f"{vehicles:9,} {parts:5} {-(-parts // one.cores):4}+{spare}"
                f" {max(rates) / np.mean(rates):9.2f} | "
                + " ".join(f"{lag:6.2f}" for lag in calm)
                + " | "
                + " ".join(f"{lag:6.2f}" for lag in hit)
                + f" {result.recovery():6.1f} | {result.most_waiting:9,.0f}"
                f" {max(0.0, result.most_at_broker):9,.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
