"""How much each view counts on a series: decided without labels, by planted faults.

Where shapes repeat, as in heartbeats or daily loads, the shape memory is the most sensitive of all
views. Where they do not, as on a drive, every window is far from every other and the shape memory
is blind; there the views that predict, from past rows, from other channels or from the whole
window, see what it misses.

The self-test (:mod:`axonad.selftest`) tells the two apart. Faults are planted into the last fifth
of the training series, and each view is tested as it is without these rows, which it held out. A
view's skill is the probability that a fault scores above normal rows: 1 is perfect, 0.5 is blind.

**The rule.** The shape memory counts 1. The predicting views count a half each where its skill is
at most 0.6 or not known, and little where it is at least 0.7: 0.15 the network, 0 the others. In
between, the weights change in proportion.

Why skills are not compared with each other: planted faults are those of sensors and machines, and
regressions find them on any series, but they miss a beat of another shape, which no planted fault
resembles. Where the shape memory is not blind, it is preferred.
"""

from __future__ import annotations

from collections.abc import Mapping

SHAPE = "shape"
FULL = 0.5  # weight of a predicting view where the shape memory is blind
LITTLE = {"network": 0.15, "forecast": 0.0, "relation": 0.0}  # where it is not
BLIND, SEEING = 0.6, 0.7  # skill of the shape memory

Skills = Mapping[str, Mapping[str, float]]
"""By view and kind of fault: the probability that a fault scores above normal rows."""


def weigh(views: tuple[str, ...], skills: Skills | None) -> dict[str, float]:
    """Return the weight of each view; ``skills`` is None where no self-test was possible.

    >>> weigh(("shape", "network"), {"shape": {"noisy": 0.52}, "network": {"noisy": 0.9}})
    {'shape': 1.0, 'network': 0.5}
    >>> weigh(("shape", "network"), {"shape": {"noisy": 0.98}, "network": {"noisy": 0.7}})
    {'shape': 1.0, 'network': 0.15}
    """
    if SHAPE not in views:
        return dict.fromkeys(views, 1.0)
    share = 0.0 if skills is None else _sight(mean_skill(skills[SHAPE]))
    weights = {name: round(share * LITTLE[name] + (1 - share) * FULL, 12) for name in LITTLE}
    return {name: 1.0 if name == SHAPE else weights[name] for name in views}


def describe(weights: Mapping[str, float], skills: Skills | None) -> str:
    """Return weights and skills as one line.

    >>> describe({"shape": 1.0, "network": 0.15}, {"shape": {"a": 0.9}, "network": {"a": 0.75}})
    'weights of the views: shape 1 (skill 0.90), network 0.15 (skill 0.75)'
    """
    tested = {name: f" (skill {mean_skill(found):.2f})" for name, found in (skills or {}).items()}
    parts = [f"{name} {weight:.2g}{tested.get(name, '')}" for name, weight in weights.items()]
    why = "" if skills else "; there was no self-test of them"
    return f"weights of the views: {', '.join(parts)}{why}"


def mean_skill(by_kind: Mapping[str, float]) -> float:
    """Return the mean over kinds of faults."""
    return sum(by_kind.values()) / len(by_kind)


def _sight(skill: float) -> float:
    """Return 0 for a blind view, 1 for one that sees, and the place in between."""
    return min(max((skill - BLIND) / (SEEING - BLIND), 0.0), 1.0)
