"""Scaling of channels before the model.

===========  =====================================================================================
``"soft"``   causal, the default: training statistics, floored per channel, compressed by asinh
``"train"``  causal: training mean and standard deviation, nothing else
``"array"``  parity with the paper's code: each array by its own mean and standard deviation. It
             looks at the whole scored series, its future included, so it cannot run live
===========  =====================================================================================

The soft rule. A channel's unit is its training standard deviation, but at least a tenth of its
training range, so that a channel that hardly ever moved does not explode when it moves again. The
rule knows no units: a channel in volts scores as it would in nanovolts. Only a channel that was
constant in training has nothing of its own to go by; its unit is a millionth of its magnitude (or
of 1, if that is larger): when such a channel moves at all, that is news, and loud.
What makes loud bearable is the second half of the rule: a value of z units becomes
3·asinh(z / 3), linear up to a few units and logarithmic far out, so an extreme stays visible
without drowning every other channel. Both numbers were chosen on the tuning series of TSB-AD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, Names, wrong_size

SCALINGS = ("soft", "train", "array")
TINY = 1e-8  # the paper's code divides by this where a standard deviation is zero
FLOOR = 0.1  # of a channel's training range: the least unit of a channel that moved
NOISE = 1e-6  # of the magnitude (or of 1) of a channel that never moved: its unit
ROUNDING = 1e-12  # of a channel's magnitude: smaller movements are rounding of floats
KNEE = 3.0  # units up to which the soft rule is about linear
LIMIT = 1e15  # of a scaled value; its square must still fit into float32
BLOCK = 65_536  # rows scaled at a time, so that no second float64 copy of a long series exists


@dataclass(frozen=True)
class Scaler:
    """Centre and unit per channel, and the rule that applies them."""

    rule: str
    center: NDArray[np.float64]
    unit: NDArray[np.float64]

    def apply(self, X: Matrix) -> NDArray[np.float32]:
        """Return ``X`` scaled, as a new float32 array."""
        if self.rule == "array":
            center, unit = _mean_std(X, None)
            unit = np.where(unit == 0, TINY, unit)
        else:
            center, unit = self.center, self.unit
        out = np.empty(X.shape, dtype=np.float32)
        for start in range(0, len(X), BLOCK):
            with np.errstate(over="ignore"):
                z = (X[start : start + BLOCK] - center) / unit
            if self.rule == "soft":
                z = KNEE * np.arcsinh(z / KNEE)
            out[start : start + BLOCK] = np.clip(z, -LIMIT, LIMIT, out=z)
        return out


def fit_scaler(X: Matrix, rule: str, names: Names = None) -> Scaler:
    """Return the scaler whose statistics come from the training series ``X`` alone."""
    mean, std = _mean_std(X, names)
    if rule != "soft":
        return Scaler(rule, mean, np.where(std == 0, TINY, std))
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    magnitude = np.maximum(np.abs(low), np.abs(high))
    moved = np.maximum(np.maximum(std, FLOOR * (high - low)), ROUNDING * magnitude)
    still = NOISE * np.maximum(magnitude, 1.0)
    return Scaler(rule, mean, np.where(high > low, moved, still))


def _mean_std(X: Matrix, names: Names) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and population standard deviation per channel; exactly 0 where constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean: NDArray[Any] = X.mean(axis=0, dtype=np.float64)
        total = np.zeros(X.shape[1])
        for start in range(0, len(X), BLOCK):
            total += np.square(X[start : start + BLOCK] - mean).sum(axis=0)
        std = np.sqrt(total / len(X))
    constant = X.min(axis=0) == X.max(axis=0)
    mean = np.where(constant, X[0].astype(np.float64), mean)
    std = np.where(constant, 0.0, std)
    if not np.isfinite(std).all():
        index = int(np.argmin(np.isfinite(std)))
        worst = float(np.abs(X[:, index]).max())
        raise wrong_size(index, worst, names)
    return mean, std
