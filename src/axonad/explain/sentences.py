"""The one sentence for an engineer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from axonad.explain.why import BrokenRelation, Counterfactual, Course

Array = NDArray[np.float64]

WORST = 0.5  # values are told of rows that are off by at least this share of the most
VERBS = {
    "frozen": "is frozen",
    "shifted": "is shifted",
    "drifting": "drifts away",
    "noisy": "is noisy",
    "spiking": "spikes",
    "wrong relation": "is not what the other channels say",
    "out of range": "is out of range",
    "unknown": "is not as expected",
}


def write_sentence(
    channels: Sequence[str],
    kind: str,
    course: Course | None,
    rows: slice,
    relation: BrokenRelation | None,
    found: Counterfactual,
) -> str:
    """Return the sentence; ``rows`` are those of the fault in ``course``, of the first channel."""
    if not channels:
        return f"no channel contradicts the others by more than usual; {_end(found)}"
    head, verb = channels[0], VERBS[kind]
    if relation is not None and kind == "wrong relation":
        verb = f"no longer follows {joined(relation.given)}"
    elif relation is not None and kind != "unknown":
        verb += f" and no longer follows {joined(relation.given)}"
    words = f"{head} {verb}"
    if course is not None and rows.stop > rows.start:
        words += _values(course, rows, kind)
    if len(channels) > 1:
        words += f"; {joined(channels[1:])} too"
    return f"{words}; {_end(found)}"


def joined(names: Sequence[str]) -> str:
    """Return names as a list in words.

    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _values(course: Course, rows: slice, kind: str) -> str:
    actual, expected = course.actual[rows], course.expected[rows]
    known = np.isfinite(expected)
    if not known.any():
        return ""
    actual, expected = actual[known], expected[known]
    off = np.abs(actual - expected)
    size = float(off.max())
    worst = off >= (1.0 if kind == "spiking" else WORST) * size  # elsewhere it may be as expected
    actual, expected = actual[worst], expected[worst]
    return f": expected {_span(expected, size)}, was {_span(actual, size)}"


def _span(values: Array, size: float) -> str:
    """Return a range in words, in digits that show a difference of ``size``."""
    digits = max(0, 1 - math.floor(math.log10(size))) if size > 0 else 2
    low, high = (_number(float(np.quantile(values, q)), digits) for q in (0.05, 0.95))
    return low if low == high else f"{low} to {high}"


def _number(value: float, digits: int) -> str:
    text = f"{value:.{min(digits, 9)}f}" if abs(value) < 1e15 else f"{value:.3g}"
    return text.replace("-0", "0", 1) if float(text) == 0 else text


def _end(found: Counterfactual) -> str:
    if found.vanishes:
        return f"with {joined(found.channels)} as expected there would be no alarm"
    return "no small set of channels explains the alarm"
