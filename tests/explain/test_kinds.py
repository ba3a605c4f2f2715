from __future__ import annotations

import numpy as np
import pytest

from axonad.explain.kinds import Trace, name_kind

ROWS = 60
RNG = np.random.default_rng(0)
EXPECTED = np.sin(np.arange(ROWS) / 8) + 0.5
NOISE = 0.01 * RNG.normal(size=ROWS)
SPIKE = np.where(np.arange(ROWS) == 30, 4.0, 0.0)
COURSES = {
    "frozen": np.full(ROWS, EXPECTED[0]),
    "shifted": EXPECTED + 0.8,
    "drifting": EXPECTED + np.linspace(0, 1, ROWS),
    "noisy": EXPECTED + 0.6 * RNG.normal(size=ROWS),
    "spiking": EXPECTED + SPIKE,
    "wrong relation": EXPECTED[::-1] * 1.5,
    "out of range": EXPECTED * 0 + 500 + NOISE,
}


def trace(actual: np.ndarray, expected: np.ndarray = EXPECTED, longest: int = 3) -> Trace:
    return Trace(actual, expected, 0.02, 0.02, -2.0, 2.0, longest)


@pytest.mark.parametrize("kind", COURSES)
def test_kind_of_a_constructed_course(kind):
    noise = 0 if kind == "frozen" else NOISE
    assert name_kind([trace(COURSES[kind] + noise)]) == kind


def test_kind_of_several_channels_is_that_of_most():
    traces = [trace(COURSES[kind]) for kind in ("shifted", "shifted", "shifted")]
    assert name_kind(traces) == "shifted"


def test_stuck_at_a_wrong_value_is_frozen_unless_that_is_usual():
    still = np.full(ROWS, 0.1)
    stuck = np.full(ROWS, 1.9)
    assert name_kind([trace(stuck, still, longest=3)]) == "frozen"
    assert name_kind([trace(stuck, still, longest=500)]) == "shifted"  # as a gear


def test_no_deviation_is_no_kind():
    assert name_kind([trace(EXPECTED)]) == name_kind([]) == "unknown"
