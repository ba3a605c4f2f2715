"""Events of an alarm policy in a benchmark: what a person would have been told.

The policy is calibrated on the detector's training scores with a budget of :data:`BUDGET`, and its
state machine starts at the first row after training. Labels are only used to judge the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.calibration import Recording, calibrate
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.recalibrate import default_shape
from axonad.alarms.segments import find_segments, firing_rows
from axonad.detector import Detector
from axonad.metrics import describe_alarms
from axonad.metrics.ranges import find_ranges

BUDGET = "1 per 36000 steps"
"""An event per hour at 10 Hz."""
DIGITS = 6

Scores = NDArray[np.float64]
Labels = NDArray[np.int8]


def training_policy(detector: Detector) -> dict[str, Any]:
    """Return the policy that keeps a detector's training scores within the budget, as JSON."""
    found = calibrate(
        [Recording(np.asarray(detector.decision_scores_, dtype=np.float64))],
        budget=BUDGET,
        shape=default_shape(detector.history),
        spare=0.0,  # as in all rows so far
    )
    return found.policy.to_json()


def evaluate_events(
    scores: Scores, labels: Labels, policy: Mapping[str, Any], *, threshold: float
) -> dict[str, float]:
    """Return how the events of rows after training agree with their labels.

    ``event_…`` are those of the policy, ``rule_…`` the runs of scores above the detector's
    threshold on the same rows: faults found, false events, median delay from a fault's first row to
    its first alarm, share of normal rows in alarm. ``faults`` and ``normal_steps`` count labelled
    faults and normal rows.
    """
    shape = AlarmPolicy.from_json(policy)
    above = scores > threshold
    found: dict[str, float | None] = {
        "faults": len(find_ranges(labels == 1)[0]),
        "normal_steps": int((labels == 0).sum()),
        **_judge("event", firing_rows(scores, shape), labels),
        "event_false": _count_false(*find_segments(scores, shape), labels),
        **_judge("rule", above, labels),
        "rule_false": _count_false(*find_ranges(above), labels),
    }
    return {name: value for name, value in found.items() if value is not None}


def _judge(name: str, alarms: NDArray[np.bool_], labels: Labels) -> dict[str, float | None]:
    report = describe_alarms(alarms, labels)
    normal = labels == 0
    return {
        f"{name}_found": report.found,
        f"{name}_delay": report.median_delay,
        f"{name}_normal_share": (
            round(float(alarms[normal].mean()), DIGITS) if normal.any() else None
        ),
    }


def _count_false(starts: NDArray[np.int64], ends: NDArray[np.int64], labels: Labels) -> int:
    """Return the number of events that touch no labelled row."""
    before = np.concatenate([[0], np.cumsum(labels)])
    return int(np.count_nonzero(before[ends] == before[starts]))
