"""Scaling of channels before the model.

===========  =====================================================================================
``"soft"``   the default: training statistics with a lower bound, compressed by asinh
``"train"``  mean and standard deviation of the training series
``"array"``  mean and standard deviation of each array itself, as in the paper's code. Not causal:
             the statistics include later rows, so it cannot be used on a stream
``"raw"``    none; for baselines whose published results have none
===========  =====================================================================================

The soft rule divides a channel by its training standard deviation, or by a tenth of its training
range if that is larger, so that a channel that rarely changes does not explode when it changes
again. Call this its spread. A scaled value z then becomes 3·asinh(z / 3), which is linear up to
about 3 and logarithmic beyond, so that extremes stay visible without dominating all other channels.
Both numbers were chosen on the tuning series of TSB-AD.

A channel that was constant or nearly constant in training is *still*: it has no spread to measure a
movement by. Its unit is a thousandth of its magnitude, or of 1 if that is larger, and z·|z| takes
the place of z. The square tells a trifle from a movement better than any unit could. A change by a
ten-thousandth (the last digit of a logger, rounding, a slight drift) becomes 0.01 and drowns in the
noise of the other channels, a percent becomes 100, and a flag that goes from 0 to 1 a million,
which asinh turns into 40. With z alone, a unit that mutes trifles would also mute flags: on the
tuning series, flags that never switched in training are the clearest sign of some anomalies, and
they must stand out from channels that merely leave a narrow range (011_MSL).

Nearly constant means that the spread is below 1e-5 of the magnitude and below 1e-5 in the channel's
own unit: only then would a change by a ten-thousandth be more than ten times the spread. Both
conditions are needed. A position of 48.7 ± 0.001 degrees or a counter of 1,000,000 ± 0.1 has a
small relative spread, a field of 5e-5 ± 1e-6 tesla a small absolute one, and both are movement. A
channel whose values never exceed 1e-7, which is what single precision leaves of a zero, is nearly
constant too. If no channel of a series moves more than that, its small movements are all there is
to learn: a nearly constant channel is then divided by its spread, and only a constant one is still.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, Names, wrong_size

SCALINGS = ("soft", "train", "array")
TINY = 1e-8  # divisor of the paper's code where the standard deviation is 0
FLOOR = 0.1  # smallest spread of a channel, as a share of its range
STILL = 1e-3  # unit of a still channel, as a share of max(1, its magnitude)
NEARLY = 1e-5  # largest spread of a nearly constant channel, as a share of min(1, its magnitude)
ZERO = 1e-7  # a channel is nearly constant if no value of it is larger
ROUNDING = 1e-12  # smaller changes, as a share of the magnitude, are floating-point rounding
KNEE = 3.0  # scaled value up to which the soft rule is about linear
SQUARABLE = 1e75  # largest |z| of a still channel, whose square must not overflow
MOST_SINH = 350.0  # largest argument of sinh, whose value a channel's unit must not overflow
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
        center, unit = self.center, self.unit
        if self.rule == "array":
            center, unit = _mean_std(X, None)
            unit = np.where(unit == 0, TINY, unit)
        elif self.rule == "raw":
            center, unit = np.zeros(1), np.ones(1)
        out = np.empty(X.shape, dtype=np.float32)
        for start in range(0, len(X), BLOCK):
            with np.errstate(over="ignore"):
                z = (X[start : start + BLOCK] - center) / unit
            if self.rule == "soft":
                if self.still.any():
                    near = np.clip(z, -SQUARABLE, SQUARABLE)
                    z = np.where(self.still, near * np.abs(near), z)
                z = KNEE * np.arcsinh(z / KNEE)
            out[start : start + BLOCK] = np.clip(z, -LIMIT, LIMIT, out=z)
        return out

    def invert(self, scaled: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the values that :meth:`apply` scales to these; not for the rule ``"array"``."""
        z = np.asarray(scaled, dtype=np.float64)
        if self.rule == "raw":
            return z
        if self.rule == "soft":
            z = KNEE * np.sinh(np.clip(z / KNEE, -MOST_SINH, MOST_SINH))
            z = np.where(self.still, np.sign(z) * np.sqrt(np.abs(z)), z)
        return np.asarray(self.center + self.unit * z)

    @cached_property
    def still(self) -> NDArray[np.bool_]:
        """Whether each channel was constant in training or, by the soft statistics, nearly so."""
        exact = self.rule in ("train", "array")
        return np.asarray(self.unit == (TINY if exact else _still_unit(self.center)))


class Movement(NamedTuple):
    """Which channels of a training series are constant or nearly so, and how far each one moves."""

    constant: NDArray[np.bool_]
    nearly: NDArray[np.bool_]
    spread: NDArray[np.float64]  # standard deviation, at least a tenth of the range


def fit_scaler(X: Matrix, rule: str, names: Names = None) -> Scaler:
    """Return a scaler with the statistics of the training series ``X``."""
    mean, std = _mean_std(X, names)
    if rule in ("train", "array"):
        return Scaler(rule, mean, np.where(std == 0, TINY, std))
    constant, nearly, spread = _movement(X, std)
    still = constant | nearly
    if still.all():
        still = constant
    unit = _still_unit(mean)
    spread = np.where(spread == unit, np.nextafter(spread, np.inf), spread)  # tells them apart
    return Scaler(rule, mean, np.where(still, unit, spread))


def find_movement(X: Matrix, names: Names = None) -> Movement:
    """Return which channels of a training series are constant or nearly so."""
    return _movement(X, _mean_std(X, names)[1])


def _movement(X: Matrix, std: NDArray[np.float64]) -> Movement:
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    magnitude = np.maximum(np.abs(low), np.abs(high))
    spread = np.maximum(np.maximum(std, FLOOR * (high - low)), ROUNDING * magnitude)
    constant = low == high
    little = (spread <= NEARLY * np.minimum(magnitude, 1.0)) | (magnitude <= ZERO)
    return Movement(constant, little & ~constant, spread)


def _still_unit(center: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(STILL * np.maximum(np.abs(center), 1.0))


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
