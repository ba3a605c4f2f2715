"""What kind of fault it is, by plain tests of what a channel was against what it should have been.

==================  ==============================================================================
``out of range``    most values lie beyond the training range by more than half its width
``frozen``          the channel keeps one value while it should have moved
``spiking``         few rows, or few of the rows, hold nearly all of the deviation
``noisy``           the deviation jumps from row to row, more than in training
``shifted``         the deviation is about constant
``drifting``        the deviation grows steadily
``wrong relation``  the deviation has no such shape: the channel does something else
==================  ==============================================================================

Several blamed channels are judged together: each test asks for the share of the deviation of all of
them that the kind leaves unexplained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FAR = 0.5  # of the width of the training range
SAME = 0.9  # share of steps without a change in a frozen channel
SHORT = 12  # rows; a fault that is over sooner is a spike
FEW, MOST = 0.15, 0.8  # share of the rows of a spiking channel that hold this share of deviation
ROUGH = 0.45  # half the mean squared step of white noise is 1 variance, of a smooth course near 0
JUMPY = 3.0  # steps of the deviation in units of those in training
STEADY, RAMP = 0.3, 0.2  # share of the deviation that a constant, or a ramp, may leave


@dataclass(frozen=True)
class Trace:
    """A blamed channel in the rows of a fault, in units of its scaling.

    ``step`` is the usual root mean squared difference of the deviations of two rows, ``low`` and
    ``high`` the training range.
    """

    actual: Array
    expected: Array
    step: float
    low: float
    high: float

    @property
    def deviation(self) -> Array:
        """What the channel was, less what it should have been."""
        return self.actual - self.expected


def name_kind(traces: list[Trace]) -> str:
    """Return the kind of a fault of these channels, ``"unknown"`` if there is none."""
    traces = [trace for trace in traces if len(trace.actual) and trace.deviation.any()]
    if not traces:
        return "unknown"
    rows = len(traces[0].actual)
    if _mean(traces, _is_beyond) > 0.5:
        return "out of range"
    if rows >= 5 and _mean(traces, _is_frozen) > 0.5:
        return "frozen"
    if rows <= SHORT or _mean(traces, _is_spiking) > 0.5:
        return "spiking"
    return "noisy" if _mean(traces, _is_noisy) > 0.5 else _name_shape(traces)


def _name_shape(traces: list[Trace]) -> str:
    constant, ramp = (_mean(traces, left) for left in (_left_by_constant, _left_by_ramp))
    if min(constant / STEADY, ramp / RAMP) < 1:
        return "shifted" if constant <= ramp else "drifting"
    return "wrong relation"


def _mean(traces: list[Trace], test: Callable[[Trace], float]) -> float:
    return float(np.mean([test(trace) for trace in traces]))


def _is_beyond(trace: Trace) -> bool:
    reach = FAR * (trace.high - trace.low)
    outside = (trace.actual < trace.low - reach) | (trace.actual > trace.high + reach)
    return bool(outside.mean() > 0.5)


def _is_frozen(trace: Trace) -> bool:
    return bool((np.diff(trace.actual) == 0).mean() >= SAME and np.ptp(trace.expected) > 0)


def _is_spiking(trace: Trace) -> bool:
    power = np.sort(np.square(trace.deviation))[::-1]
    few = max(1, round(FEW * len(power)))
    return bool(power[:few].sum() > MOST * power.sum())


def _is_noisy(trace: Trace) -> bool:
    deviation = trace.deviation
    half = float(np.square(np.diff(deviation)).mean()) / 2
    is_rough = half > ROUGH * float(deviation.var())
    return bool(is_rough and np.sqrt(2 * half) > JUMPY * trace.step)


def _left_by_constant(trace: Trace) -> float:
    deviation = trace.deviation
    return float(deviation.var() / np.square(deviation).mean())


def _left_by_ramp(trace: Trace) -> float:
    deviation = trace.deviation
    ramp = np.arange(1, len(deviation) + 1) / len(deviation)
    fitted = ramp * (ramp @ deviation) / (ramp @ ramp)
    return float(np.square(deviation - fitted).mean() / np.square(deviation).mean())
