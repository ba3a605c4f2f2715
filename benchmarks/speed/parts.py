"""Where the time of a fit of MultiView goes, beside what the machine could do at best.

    python benchmarks/speed/parts.py --csv benchmarks/speed/parts_cpu.csv
    python benchmarks/speed/parts.py --old .release-0.2.0/venv/bin/python   # beside release 0.2.0

Each fit runs in a process of its own, the releases in turns. For every part its seconds are shown
with a floor, where there is one: the matrix products of the training steps and of the scores of the
training rows at the speed of this machine's own product of large float32 matrices, and one pass of
all training windows over the memory of shapes, at the same speed or at its memory bandwidth,
whichever takes longer. ``tools/release_0_2_0.py`` installs the release.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SEED = 3005  # a drive that no benchmark reports
LIGHT = "shape,forecast,relation"
ROWS, CHANNELS = 10_000, 19
CODE = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
from axonad import MultiView
from axonad.data.telemetry import generate_telemetry
rows, scored, views = int(sys.argv[1]), int(sys.argv[2]), tuple(sys.argv[3].split(","))
options = {} if views == ("all",) else {"views": views}
train = generate_telemetry(steps=2 * rows, seed=3005).train
test = generate_telemetry(steps=2 * scored, seed=3006).train
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
MultiView(verbose=False, views=("relation",)).fit(train[:1000])  # loads libraries
wall, used = time.perf_counter(), cpu()
detector = MultiView(verbose=False, **options).fit(train)
found = {"wall": time.perf_counter() - wall, "cpu": cpu() - used}
found["parts"] = getattr(detector.fit_report_, "seconds", {})
wall, used = time.perf_counter(), cpu()
detector.decision_function(test)
found["score"], found["score cpu"] = time.perf_counter() - wall, cpu() - used
net = detector.views_.get("network")
if net is not None:
    found["windows"] = net.training_.epochs * (net.epoch_windows or rows)
    found["width"], found["window"] = net.d_model, net.window
print(json.dumps(found))
"""


def machine_speed() -> tuple[float, float]:
    """Return floating-point operations and bytes a second: large products, and large copies."""
    a = np.random.default_rng(0).normal(size=(2048, 2048)).astype(np.float32)
    products, copies = [], []
    source = np.zeros(2**28, dtype=np.uint8)
    target = np.zeros_like(source)
    for _ in range(5):
        begin = time.perf_counter()
        a @ a
        products.append(2 * len(a) ** 3 / (time.perf_counter() - begin))
        begin = time.perf_counter()
        np.copyto(target, source)
        copies.append(2 * source.nbytes / (time.perf_counter() - begin))
    return max(products), max(copies)


def forward_operations(window: int, width: int, channels: int) -> float:
    """Return the operations of the matrix products of one window forward through the network.

    Embedding and head, the four products of the attention and its scores, the two layers after it,
    and the four convolutions of the predictor with three taps each.
    """
    step = 2 * channels * width * 2 + 4 * 2 * width**2 + 2 * 2 * window * width
    step += 2 * 2 * 2 * width**2 + (4 * 3 + 1) * 2 * width**2
    return float(window * step)


def floors(found: dict, speed: tuple[float, float]) -> dict[str, float]:
    """Return the seconds that parts of a fit would take at the machine's best."""
    operations, _ = speed
    if "windows" not in found:
        return {}
    one = forward_operations(found["window"], found["width"], CHANNELS)
    return {"network": (3 * found["windows"] + ROWS) * one / operations}


def memory_pass(speed: tuple[float, float], *, kept: int, directions: int = 16) -> float:
    """Return the seconds of one search of all training windows among those that are kept."""
    operations, bandwidth = speed
    products = 2 * ROWS * kept * directions / operations
    return max(products, ROWS * kept * 4 / bandwidth)  # each distance is written once


def run(python: str, views: str, *, scored: int) -> dict:
    """Fit and score once in a process of its own; return what it took."""
    words = [python, "-c", CODE, str(ROWS), str(scored), views]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", help="the Python of release 0.2.0, to compare with in turns")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scored", type=int, default=40_000, help="rows that are scored")
    parser.add_argument("--views", default=f"{LIGHT};all", help="sets of views, with ; between")
    parser.add_argument("--csv", type=Path, help="file that the rows are added to")
    given = parser.parse_args()
    pythons = {"now": sys.executable} | ({"0.2.0": given.old} if given.old else {})
    speed = machine_speed()
    print(f"matrix products {speed[0] / 1e9:.0f} GFLOP/s, copies {speed[1] / 1e9:.1f} GB/s")
    rows = []
    for views in given.views.split(";"):
        taken: dict[str, list[dict]] = {release: [] for release in pythons}
        for _ in range(given.repeats):
            for release, python in pythons.items():
                taken[release].append(run(python, views, scored=given.scored))
        middle = {
            release: {
                key: statistics.median(one[key] for one in found)
                for key in ("wall", "cpu", "score", "score cpu")
            }
            for release, found in taken.items()
        }
        for release, values in middle.items():
            floor = floors(taken[release][0], speed)
            for part in taken[release][0]["parts"]:
                seconds = statistics.median(one["parts"][part] for one in taken[release])
                rows.append((release, views, part, seconds, floor.get(part)))
            if "shape" in taken[release][0]["parts"]:
                pass_floor = memory_pass(speed, kept=ROWS)
                rows.append((release, views, "one nearest-neighbour pass", None, pass_floor))
            rows += [(release, views, key, seconds, None) for key, seconds in values.items()]
        if given.old:
            for key in middle["now"]:
                ratio = middle["now"][key] / middle["0.2.0"][key]
                rows.append(("now / 0.2.0", views, key, ratio, None))
    for release, views, part, seconds, floor in rows:
        shown = "" if seconds is None else f"{seconds:9.3f}"
        print(
            f"{release:12s} {views:24s} {part:28s} {shown:>9s}"
            + ("" if floor is None else f"   floor {floor:.3f}")
        )
    if given.csv is not None:
        with given.csv.open("a", newline="") as file:
            csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()
