"""Scores → a threshold → alarms → events. Labels never appear here.

``THRESHOLDS`` names the rules that set a threshold from training scores, given the share of
normal steps that may raise an alarm:

- ``quantile``: the (1 - rate) quantile of the training scores.
- ``pot``: peaks over threshold; a generalised Pareto tail fitted to the highest training scores and
  read off at the rate. Reaches rates rarer than the training series is long. (Siffer et al., 2017)
- ``conformal``: the smallest training score whose rank guarantees the rate for an exchangeable
  new step; refuses rates that the number of training steps cannot support.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_int
from axonad.errors import ConfigError, InputError

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Event:
    """An alarm a person can act on: when, how strong, which channels.

    ``start`` is the first and ``end`` the step after the last; ``peak`` the step with the highest
    ``score``. ``channels`` are named strongest first, empty where the detector cannot tell.
    """

    start: int
    end: int
    peak: int
    score: float
    channels: tuple[str, ...] = ()


def check_rate(*, rule: str, rate: float, steps: int) -> None:
    """Refuse a rate that the number of training steps cannot support, before any work."""
    if rule == "conformal" and math.ceil((steps + 1) * (1 - rate)) > steps:
        raise ConfigError(
            f"threshold='conformal' at contamination {rate} needs at least "
            f"{math.ceil(1 / rate) - 1} training steps, got {steps}; raise contamination or use "
            "threshold='pot'"
        )


def set_threshold(scores: Scores, *, rule: str, rate: float) -> float:
    """Return the threshold above which a normal step scores with about the given rate."""
    if len(scores) == 0:
        raise InputError("cannot set a threshold: there are no training scores")
    return float(THRESHOLDS[rule](np.asarray(scores, dtype=np.float64), rate))


def find_events(
    alarms: NDArray[Any],
    scores: Scores,
    *,
    gap: int = 0,
    blame: NDArray[np.float64] | None = None,
    names: Sequence[str] | None = None,
    top: int = 4,
) -> list[Event]:
    """Return one event per run of alarms; runs at most ``gap`` quiet steps apart become one.

    ``blame`` says how strange each channel is at each step; with it an event carries the ``names``
    (or numbers) of its ``top`` channels, strongest first.

    >>> [(e.start, e.end) for e in find_events(np.array([0, 1, 1, 0, 1]), np.arange(5.0))]
    [(1, 3), (4, 5)]
    """
    check_int("gap", gap, low=0)
    check_int("top", top, low=0)
    steps = np.flatnonzero(alarms)
    if len(steps) == 0:
        return []
    cuts = np.flatnonzero(np.diff(steps) > gap + 1)
    starts = steps[np.concatenate([[0], cuts + 1])]
    ends = steps[np.concatenate([cuts, [len(steps) - 1]])] + 1
    events = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        peak = start + int(np.argmax(scores[start:end]))
        channels: tuple[str, ...] = ()
        if blame is not None:
            order = np.argsort(-blame[start:end].max(axis=0), kind="stable")[:top]
            channels = tuple(names[i] if names is not None else str(i) for i in order.tolist())
        events.append(Event(start, end, peak, float(scores[peak]), channels))
    return events


def quantile(scores: Scores, rate: float) -> float:
    """Return the (1 - rate) quantile of the scores."""
    return float(np.quantile(scores, 1 - rate))


def conformal(scores: Scores, rate: float) -> float:
    """Return the split-conformal threshold: the ceil((n + 1)(1 - rate))-th smallest score."""
    check_rate(rule="conformal", rate=rate, steps=len(scores))
    rank = math.ceil((len(scores) + 1) * (1 - rate))
    return float(np.sort(scores)[rank - 1])


def pot(scores: Scores, rate: float, *, start: float = 0.98) -> float:
    """Return the peaks-over-threshold level: a Pareto tail above the ``start`` quantile.

    The tail is fitted by probability-weighted moments, which always exist and need no search.
    """
    base = float(np.quantile(scores, start))
    excess = np.sort(scores[scores > base]) - base
    n = len(excess)
    if n < 10 or 1 - start <= rate:  # too few peaks for a tail, or a level inside the body
        return quantile(scores, rate)
    b0 = float(excess.mean())
    weights = (n - np.arange(1, n + 1)) / (n - 1)
    b1 = float((weights * excess).mean())
    shape = 2 - b0 / (b0 - 2 * b1) if b0 > 2 * b1 else 0.0
    shape = min(max(shape, -0.5), 0.9)
    scale = b0 * (1 - shape)
    ratio = rate * len(scores) / n
    if abs(shape) < 1e-6:
        return base - scale * math.log(ratio)
    return float(base + scale / shape * (ratio**-shape - 1))


THRESHOLDS: dict[str, Callable[[Scores, float], float]] = {
    "quantile": quantile,
    "pot": pot,
    "conformal": conformal,
}
