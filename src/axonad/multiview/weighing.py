"""How much each view counts on a series: decided without labels, by planted faults.

Each view sees some series better than others. Where shapes repeat, as in heartbeats or daily loads,
the shape memory is the most sensitive of all. Where they do not, as on a drive, every window is far
from every other and the shape memory sees nothing; there the views that predict, from past rows,
from other channels or from the whole window, are the ones to listen to.

The self-test (:mod:`axonad.selftest`) tells the two apart: faults are planted into the last fifth
of the training series, which the views that are tested have not learned from, and each view's skill
is the probability that a fault scores above normal rows. **The rule**: the shape memory always
counts 1. The predicting views count 1 too where their mean skill is at least 0.35 above that of the
shape memory, and little where it is less than 0.25 above; in between, their weight grows in
proportion. ``LITTLE`` is what they then count: 0.15 for the network, 0 for the others.

Why the shape memory is preferred: planted faults are those of sensors and machines, and regressions
find them on any series. They miss a beat of another shape, which no planted fault resembles. A
series that is too short for a self-test is treated as one whose shapes repeat.
"""

from __future__ import annotations

from collections.abc import Mapping

SHAPE = "shape"
LITTLE = {"network": 0.15, "forecast": 0.0, "relation": 0.0}
"""Weights of the predicting views where the shape memory leads."""
LEAD = (0.25, 0.35)  # of the predicting views over the shape memory: from little to full weight

Skills = Mapping[str, Mapping[str, float]]
"""By view and kind of fault: the probability that a fault scores above normal rows."""


def weigh(views: tuple[str, ...], skills: Skills | None) -> dict[str, float]:
    """Return the weight of each view; ``skills`` is None where no self-test was possible.

    >>> weigh(("shape", "forecast"), {"shape": {"noisy": 0.6}, "forecast": {"noisy": 0.9}})
    {'shape': 1.0, 'forecast': 0.5}
    """
    predicting = [name for name in views if name != SHAPE]
    if SHAPE not in views or not predicting:
        return dict.fromkeys(views, 1.0)
    share = 0.0 if skills is None else _share(_lead(skills, predicting))
    return {
        name: 1.0 if name == SHAPE else LITTLE[name] + share * (1 - LITTLE[name]) for name in views
    }


def _lead(skills: Skills, predicting: list[str]) -> float:
    """Return how far the mean skill of the predicting views is above that of the shape memory."""
    return sum(map(_mean, map(skills.__getitem__, predicting))) / len(predicting) - _mean(
        skills[SHAPE]
    )


def _mean(by_kind: Mapping[str, float]) -> float:
    return sum(by_kind.values()) / len(by_kind)


def _share(lead: float) -> float:
    """Return 0 below the interval ``LEAD``, 1 above it, and the place within it."""
    low, high = LEAD
    return round(min(max((lead - low) / (high - low), 0.0), 1.0), 12)
