"""Work out what a fleet of any size needs, from measured costs and stated prices.

    python benchmarks/live/scale.py
    python benchmarks/live/scale.py --vehicles 1000000 --core-hour 0.03

Prints the table of docs/scale.md. Costs are read from ``costs.csv``, which says where each was
measured and by which command. Prices are assumptions: give your own. With ``--costs`` the measured
figures are printed instead.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import ceil
from types import SimpleNamespace

from costs import read_costs, read_sources

HOURS = 730  # of a month


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What was not measured but chosen."""

    hertz: float = 10.0
    load: float = 0.6  # share of a core that is used on average; the rest is for catching up
    cores: int = 16  # of a machine
    core_hour: float = 0.04  # dollars, per core with 4 GB of memory
    disk_month: float = 0.08  # dollars, per GB
    keep_days: float = 30.0  # of courses, as `keep_days` of [store]


def work_out(vehicles: int, costs: SimpleNamespace, given: Assumptions) -> dict[str, float]:
    """Return what a fleet needs, by name."""
    samples = vehicles * given.hertz
    actors = ceil(samples * costs.actor_us * 1e-6 / given.load)
    sending = samples * (costs.driver_us + costs.json_us) * 1e-6
    page = vehicles * costs.page_us * 1e-6
    heads = ceil((sending + page) / given.load)
    ray = ceil(samples * costs.ray_us * 1e-6 / given.load)
    cores = actors + heads + ray
    memory = (vehicles * costs.vehicle_kb * 1e3 + actors * costs.actor_mb * 1e6) / 1e9
    computing = cores * given.core_hour * HOURS
    courses = samples * costs.course_bytes * 86_400 * given.keep_days
    kept = (courses + vehicles * costs.state_bytes) / 1e9
    return {
        "samples/s": samples,
        "actors (cores)": actors,
        "heads (cores)": heads,
        "Ray (cores)": ray,
        "machines": ceil(cores / given.cores),
        "memory, GB": memory,
        "in, MB/s": samples * costs.json_bytes / 1e6,
        "to actors, MB/s": samples * costs.wire_bytes / 1e6,
        "written, MB/s": samples * costs.written_bytes / 1e6,
        "kept, GB": kept,
        "cores, $ per month": computing,
        "disk, $ per month": kept * given.disk_month,
        "$ per vehicle and month": (computing + kept * given.disk_month) / vehicles,
    }


def show(value: float) -> str:
    """Return a number with as many digits as it is good for."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vehicles", type=int, nargs="+", default=[1000, 10_000, 100_000, 10**6])
    parser.add_argument("--costs", action="store_true", help="print the measured costs")
    for name, value in vars(Assumptions()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    args = parser.parse_args()
    if args.costs:
        print("| cost | value | unit | machine | command |\n|---|---|---|---|---|")
        for row in read_sources():
            what = "`" + row["command"] + "`"
            print(f"| {row['name']} | {row['value']} | {row['unit']} | {row['machine']} | {what} |")
        return
    given = Assumptions(**{name: getattr(args, name) for name in vars(Assumptions())})
    found = [work_out(vehicles, read_costs(), given) for vehicles in args.vehicles]
    print("| vehicles | " + " | ".join(f"{vehicles:,}" for vehicles in args.vehicles) + " |")
    print("|---|" + "---|" * len(found))
    for name in found[0]:
        print(f"| {name} | " + " | ".join(show(one[name]) for one in found) + " |")


if __name__ == "__main__":
    main()
