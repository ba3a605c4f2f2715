"""Scaling of channels before the model.

===========  =====================================================================================
``"soft"``   the default: training statistics with a lower bound, compressed by asinh
``"train"``  mean and standard deviation of the training series
``"array"``  mean and standard deviation of each array itself, as in the paper's code. Not causal:
             the statistics include later rows, so it cannot be used on a stream
===========  =====================================================================================

The soft rule divides a channel by its training standard deviation, or by a tenth of its training
range if that is larger, so that a channel that rarely changes does not explode when it changes
again. The result does not depend on the unit of the channel. A channel that was constant in
training is divided by a millionth of its magnitude, or of 1 if that is larger: any change stands
out.
A scaled value z then becomes 3·asinh(z / 3), which is linear up to about 3 and logarithmic beyond,
so that extremes stay visible without dominating all other channels. Both numbers were chosen on
the tuning series of TSB-AD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, Names, wrong_size

SCALINGS = ("soft", "train", "array")
TINY = 1e-8  # divisor of the paper's code where the standard deviation is 0
FLOOR = 0.1  # smallest unit of a channel that is not constant, as a share of its range
NOISE = 1e-6  # unit of a constant channel, as a share of max(1, its magnitude)
ROUNDING = 1e-12  # smaller changes, as a share of the magnitude, are floating-point rounding
KNEE = 3.0  # scaled value up to which the soft rule is about linear
LIMIT = 1e15  # largest scaled value; its square does not overflow float32
BLOCK = 65_536  # rows per block, to avoid a float64 copy of a long series


@dataclass(frozen=True)
class Scaler:
    """A scaling rule with the centre and unit of each channel."""

    rule: str
    center: NDArray[np.float64]
    unit: NDArray[np.float64]

    def apply(self, X: Matrix) -> NDArray[np.float32]:
        """Return the scaled ``X`` as a new float32 array."""
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
    """Return a scaler with the statistics of the training series ``X``."""
    mean, std = _mean_std(X, names)
    if rule != "soft":
        return Scaler(rule, mean, np.where(std == 0, TINY, std))
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    magnitude = np.maximum(np.abs(low), np.abs(high))
    moved = np.maximum(np.maximum(std, FLOOR * (high - low)), ROUNDING * magnitude)
    still = NOISE * np.maximum(magnitude, 1.0)
    return Scaler(rule, mean, np.where(high > low, moved, still))


def _mean_std(X: Matrix, names: Names) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and population standard deviation per channel, exactly 0 if constant."""
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
        channel = int(np.argmin(np.isfinite(std)))
        raise wrong_size(channel, float(np.abs(X[:, channel]).max()), names)
    return mean, std
