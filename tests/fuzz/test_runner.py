from __future__ import annotations

import random
import time

import pytest

from tests.fuzz.runner import run


def halves(rng: random.Random) -> str:
    return "low" if rng.random() < 0.5 else "high"


def fails(rng: random.Random) -> str:
    if rng.random() < 0.5:
        raise KeyError("x")
    time.sleep(10)
    return "slept"


def test_outcomes_are_counted():
    assert run(halves, range(20)) == run(halves, range(20))
    assert sum(run(halves, range(20)).values()) == 20


def test_failures_and_hangs_are_reported_with_their_seed():
    with pytest.raises(AssertionError, match=r"4 failed\nseed 0: TooSlow.*\nseed 1: KeyError"):
        run(fails, range(4), seconds=0.02)
