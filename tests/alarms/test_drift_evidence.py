"""The evidence of drift: equal to a naive twin, and within its bound on exchangeable blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from axonad.alarms.drift_evidence import DOWN, UP, Evidence, bets, fewest_blocks

POWERS = (2, 8, 64)


def naive(normal: list[float], values: list[float]) -> float:
    """The definition: for each first block, bets times payouts from there on, weighed by stakes."""
    n, total, seen = len(normal), 0.0, list[int]()
    factors = []  # of each block: one per side and bet
    for value in values:
        at = sum(one < value for one in normal)
        chance = (1 + seen.count(at)) / (n + 1 + len(seen))
        factors.append([
            (0.9 * (((place + 1) / (n + 1)) ** power - (place / (n + 1)) ** power) + 0.1 / (n + 1))
            / chance
            for place in (at, n - at) for power in POWERS
        ])  # fmt: skip
        seen.append(at)
    for bet in range(2 * len(POWERS)):
        for first in range(len(values)):
            stake = 1 / ((first + 1) * (first + 2))
            total += stake * math.prod(factor[bet] for factor in factors[first:])
    return total / (2 * len(POWERS))


def test_equals_a_naive_twin_after_every_block() -> None:
    rng = np.random.default_rng(0)
    normal = sorted(rng.normal(size=15).tolist())
    values = [*rng.normal(size=6).tolist(), *(rng.normal(size=6) + 2).tolist()]
    evidence = Evidence(normal)
    for i, value in enumerate(values):
        evidence.push(value, first=i)
        assert evidence.value == pytest.approx(naive(normal, values[: i + 1]), rel=1e-9)


@pytest.mark.parametrize("blocks", [12, 57])
def test_bets_spend_what_they_have(blocks: int) -> None:
    for bet in bets(blocks):
        assert sum(bet) == pytest.approx(1)
        assert min(bet) >= 0.1 / (blocks + 1)
        assert list(bet) == sorted(bet)


@pytest.mark.parametrize("ties", [False, True])
def test_exchangeable_blocks_stay_below_the_bound(ties: bool) -> None:
    """Ville: at most a share of a ever reaches 1/a; here a is 0.1, of 400 streams of 60 blocks."""
    rng, reached = np.random.default_rng(7), 0
    for _ in range(400):
        drawn = rng.normal(size=75)
        drawn = np.round(drawn) if ties else drawn
        evidence, highest = Evidence(sorted(drawn[:15].tolist())), 0.0
        for i, value in enumerate(drawn[15:].tolist()):
            evidence.push(value, first=i)
            highest = max(highest, evidence.value)
        reached += highest >= 10
    assert reached <= 40


@pytest.mark.parametrize(("shift", "side"), [(5.0, UP), (-5.0, DOWN)])
def test_a_shift_is_found_with_its_side_and_beginning_and_ends(shift: float, side: int) -> None:
    rng = np.random.default_rng(3)
    evidence = Evidence(sorted(rng.normal(size=40).tolist()))
    for i, value in enumerate([*rng.normal(size=20), *(rng.normal(size=10) + shift)]):
        evidence.push(float(value), first=100 * i, begins=f"t{i}")
    assert evidence.value > 1e6
    assert evidence.side == side
    row, time = evidence.since(side)
    assert row == 2_000
    assert time == "t20"
    assert evidence.mean(side) == pytest.approx(shift, abs=1)
    blocks = 0
    while not evidence.is_back(side):
        evidence.push(float(rng.normal()), first=0)
        blocks += 1
    assert 3 <= blocks <= 25


def test_a_shift_for_ever_is_never_learned_away() -> None:
    evidence = Evidence([float(i) for i in range(20)])
    for i in range(2_000):
        evidence.push(30.0, first=i)
        assert not evidence.is_back(UP)
    assert evidence.since(UP)[0] == 0


def test_fewest_blocks_is_what_it_takes() -> None:
    count = fewest_blocks(30, sides=2, limit=3_900)
    evidence = Evidence([float(i) for i in range(30)])
    for i in range(count):
        assert evidence.value < 3_900
        evidence.push(99.0, first=i)
    assert evidence.value >= 3_900
    assert 3 <= count <= 8


@pytest.mark.parametrize(
    ("name", "value"),
    [("counts", [0] * 5), ("counts", [-1] * 13), ("run", [1.0]), ("made", [[1.0], [1.0]]),
     ("run", [-1.0, 0.0]), ("total", [math.inf, 0.0]), ("start", [0.5, 1])],
)  # fmt: skip
def test_a_damaged_state_is_refused(name: str, value: object) -> None:
    evidence = Evidence([float(i) for i in range(12)])
    evidence.push(3.5, first=0)
    with pytest.raises((ValueError, TypeError)):
        Evidence([float(i) for i in range(12)]).restore(evidence.state() | {name: value})
