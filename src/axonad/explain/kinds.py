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
SHORT = 10  # rows; a fault that is over sooner is a spike
FEW, MOST = 0.15, 0.8  # share of the rows of a spiking channel that hold this share of deviation
ROUGH = 0.45  # half the mean squared step of white noise is 1 variance, of a smooth course near 0
JUMPY = 3.0  # steps of the deviation in units of those in training
STEADY, RAMP = 0.15, 0.15  # share of the deviation that a constant, or a ramp, may leave
EDGE = 0.5  # a shift begins and ends with at least this share of its mean
STUCK = 1.5  # a frozen channel is off by at most so much of what the expected value moves


@dataclass(frozen=True)
class Trace:
    """A blamed channel in the rows of a fault, in units of its scaling.

    ``size`` is the usual root mean squared deviation, ``step`` that of the difference of the
    deviations of two rows, ``low`` and ``high`` the training range, ``longest`` the most rows in
    which the channel kept its value in training.
    """

    actual: Array
    expected: Array
    size: float
    step: float
    low: float
    high: float
    longest: int

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
    if rows <= SHORT or _mean(traces, _is_spiking) > 0.5:
        return "spiking"
    if _mean(traces, _is_frozen) > 0.5:
        return "frozen"
    return "noisy" if _mean(traces, _is_noisy) > 0.5 else _name_shape(traces)


def _name_shape(traces: list[Trace]) -> str:
    constant, ramp = (_mean(traces, left) for left in (_left_by_constant, _left_by_ramp))
    if constant < STEADY and constant <= ramp and _mean(traces, _edge) >= EDGE:
        return "shifted"
    return "drifting" if ramp < RAMP and ramp < constant else "wrong relation"


def _mean(traces: list[Trace], test: Callable[[Trace], float]) -> float:
    return float(np.mean([test(trace) for trace in traces]))


def _is_beyond(trace: Trace) -> bool:
    reach = FAR * (trace.high - trace.low)
    outside = (trace.actual < trace.low - reach) | (trace.actual > trace.high + reach)
    return bool(outside.mean() > 0.5)


def _is_frozen(trace: Trace) -> bool:
    if (np.diff(trace.actual) == 0).mean() < SAME:
        return False
    follows = float(np.abs(trace.deviation).max()) <= STUCK * float(np.ptp(trace.expected))
    return bool(follows or trace.longest < len(trace.actual) // 2)


def _is_spiking(trace: Trace) -> bool:
    power = np.sort(np.square(trace.deviation))[::-1]
    few = max(SHORT, round(FEW * len(power)))
    return bool(power[:few].sum() > MOST * power.sum())


def _is_noisy(trace: Trace) -> bool:
    deviation = trace.deviation
    half = float(np.square(np.diff(deviation)).mean()) / 2
    is_rough = half > ROUGH * float(np.square(deviation).mean())
    return bool(is_rough and np.sqrt(2 * half) > JUMPY * trace.step)


def _left_by_constant(trace: Trace) -> float:
    return _left(trace, np.full(len(trace.actual), trace.deviation.mean()))


def _left_by_ramp(trace: Trace) -> float:
    deviation = trace.deviation
    ramp = np.arange(1, len(deviation) + 1) / len(deviation)
    return _left(trace, ramp * (ramp @ deviation) / (ramp @ ramp))


def _left(trace: Trace, fitted: Array) -> float:
    """Return the share of the deviation that is left, beside what is usual."""
    left = float(np.square(trace.deviation - fitted).mean()) - trace.size**2
    return max(left, 0.0) / float(np.square(trace.deviation).mean())


def _edge(trace: Trace) -> float:
    """Return the deviation of the first and last three rows, as a share of its mean."""
    deviation = trace.deviation
    ends = (deviation[:3].mean() + deviation[-3:].mean()) / 2
    return float(ends / deviation.mean()) if deviation.mean() else 0.0
