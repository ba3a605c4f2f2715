"""Events on generated drives with alarms set by ``fit`` or by other fault-free drives.

python benchmarks/alarms/recalibrated.py [--seeds 2024-2027] [--device cuda] [--detector Relation]

MultiView is fitted on the clean half of a drive. Its alarms, one event an hour, come from its
held-out training scores (``alarm_budget``), or from one or two clean halves of other drives
(``recalibrate``). Prints faults found and false events in the other half, how many events there
are, and how many are told when those far beyond the budget are gathered, as Markdown.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from axonad import make_detector
from axonad.alarms.machine import AlarmMachine
from axonad.alarms.recalibrate import recalibrate
from axonad.alarms.segments import find_segments, firing_rows
from axonad.data.series import Series
from axonad.data.telemetry import Telemetry, generate_coordination, generate_telemetry
from axonad.errors import DataWarning
from axonad.metrics.ranges import find_ranges

OTHER = 1000  # seeds of the drives that set the alarms are this much higher
BUDGET, SECONDS = "1 per hour", 0.1
SUITES = {"telemetry": generate_telemetry, "coordination": generate_coordination}


def counts(detector: Any, drive: Telemetry, policy: Any) -> tuple[int, ...]:
    """Return faults, faults found, events that touch no fault, all events and those told."""
    return counts_of(detector.decision_function(drive.test), drive, policy)


def counts_of(scores: Any, drive: Telemetry, policy: Any) -> tuple[int, ...]:
    labels = drive.test_labels == 1
    firing, (starts, ends) = firing_rows(scores, policy), find_segments(scores, policy)
    first, last = find_ranges(labels)
    found = sum(firing[a:b].any() for a, b in zip(first, last, strict=True))
    false = sum(not labels[a:b].any() for a, b in zip(starts, ends, strict=True))
    machine = AlarmMachine(policy)
    told = sum(c.what == "final" for c in machine.push_many(scores) + machine.finish())
    return len(first), int(found), int(false), len(starts), told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="2024-2027")
    parser.add_argument("--steps", type=int, default=80_000)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--detector", default="MultiView")
    given = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    first, _, last = given.seeds.partition("-")
    for seed in range(int(first), int(last or first) + 1):
        drives = {name: make(steps=given.steps, seed=seed) for name, make in SUITES.items()}
        drive = drives["telemetry"]
        network = {"device": given.device, "verbose": False}
        detector = make_detector(
            given.detector,
            alarm_budget=BUDGET,
            seconds_per_step=SECONDS,
            **(network if given.detector == "MultiView" else {}),
        ).fit(Series(values=drive.train, channels=drive.channels))
        policies = {"fit": detector.alarm_setup_.policy}
        others = [
            generate_telemetry(steps=given.steps, seed=seed + k * OTHER).train for k in (1, 2)
        ]
        for count in (1, 2):
            setup, _ = recalibrate(
                detector, others[:count], budget=BUDGET, seconds_per_step=SECONDS
            )
            policies[f"{count} other drive{'s' * (count > 1)}"] = setup.policy
        for suite, one in drives.items():
            assert np.array_equal(one.train, drive.train)
            for name, policy in policies.items():
                cells = " | ".join(map(str, counts(detector, one, policy)))
                print(f"| {suite} | {seed} | {name} | {policy.start:.2f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
