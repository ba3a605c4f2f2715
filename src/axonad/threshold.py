"""Turn scores into a threshold, without labels.

A rule of ``THRESHOLDS`` sets the threshold from training scores and a rate, the accepted share of
false alarms among normal steps:

- ``quantile``: the (1 - rate) quantile of the training scores.
- ``pot``: peaks over threshold (Siffer et al., 2017). Fits a generalised Pareto distribution to the
  highest training scores, so the rate may be below one step in the training series.
- ``conformal``: the split-conformal quantile, which guarantees the rate for exchangeable steps;
  raises ``ConfigError`` if there are too few training steps for the rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from axonad.errors import ConfigError, InputError

if TYPE_CHECKING:
    from axonad.explain.why import Why

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Event:
    """A run of alarms: when, how strong and in which channels.

    It covers the steps ``[start, end)``; ``peak`` is the step with the highest ``score``.
    ``channels`` are sorted by blame, highest first; empty if the detector has no channel scores.
    ``why`` explains the event, if that was asked for (:mod:`axonad.explain`).
    """

    start: int
    end: int
    peak: int
    score: float
    channels: tuple[str, ...] = ()
    why: Why | None = field(default=None, compare=False, repr=False, kw_only=True)


def check_rate(*, rule: str, rate: float, steps: int) -> None:
    """Raise ``ConfigError`` if the rule needs more training steps for this rate."""
    if rule == "conformal" and math.ceil((steps + 1) * (1 - rate)) > steps:
        raise ConfigError(
            f"threshold='conformal' at contamination {rate} needs at least "
            f"{math.ceil(1 / rate) - 1} training steps, got {steps}; raise contamination or use "
            "threshold='pot'"
        )


def set_threshold(scores: Scores, *, rule: str, rate: float) -> float:
    """Return the threshold that about ``rate`` of normal steps exceed."""
    if len(scores) == 0:
        raise InputError("cannot set a threshold from 0 training scores; fit on more rows")
    return float(THRESHOLDS[rule](np.asarray(scores, dtype=np.float64), rate))


def rank_channels(
    blame: NDArray[np.float64], names: Sequence[str] | None, *, top: int
) -> tuple[str, ...]:
    """Return the names (or numbers) of the ``top`` channels to blame, highest first.

    A channel with the blame -inf is never among them.

    >>> rank_channels(np.array([1.0, -np.inf, 2.0]), None, top=3)
    ('2', '0')
    """
    order = [i for i in np.argsort(-blame, kind="stable").tolist() if blame[i] > -np.inf]
    return tuple(names[i] if names is not None else str(i) for i in order[:top])


def quantile(scores: Scores, rate: float) -> float:
    """Return the (1 - rate) quantile of the scores."""
    return float(np.quantile(scores, 1 - rate))


def conformal(scores: Scores, rate: float) -> float:
    """Return the ceil((n + 1)(1 - rate))-th smallest of n scores."""
    check_rate(rule="conformal", rate=rate, steps=len(scores))
    rank = math.ceil((len(scores) + 1) * (1 - rate))
    return float(np.sort(scores)[rank - 1])


def pot(scores: Scores, rate: float, *, start: float = 0.98) -> float:
    """Return the level that a Pareto tail above the ``start`` quantile exceeds at this rate.

    The tail is fitted with probability-weighted moments, which need no iterative search.
    """
    base = float(np.quantile(scores, start))
    excess = np.sort(scores[scores > base]) - base
    n = len(excess)
    if n < 10 or 1 - start <= rate:  # too few peaks, or the level is below the tail
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
