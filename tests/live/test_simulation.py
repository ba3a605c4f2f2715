"""The simulation in ``benchmarks/live``: decided by its seed, and by the arithmetic of recovery."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from tests.conftest import ROOT


@pytest.fixture
def simulation(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "live")
    import simulation

    yield simulation
    for name in ("simulation", "costs"):
        sys.modules.pop(name, None)


def test_it_depends_on_the_seed_alone_and_follows_the_arithmetic(simulation):
    setup = simulation.Setup(
        vehicles=2_000, parts=8, cores=4, spare=1, sample=200e-6, until=120.0, lost_at=30.0,
        detect=5.0, restart=2.0, resume=1e-3, replay=100e-6,
    )  # fmt: skip
    result = simulation.simulate(setup)
    again = simulation.simulate(setup)
    other = simulation.simulate(replace(setup, seed=1))
    assert result.rounds == again.rounds and result.lags(lost=True) == again.lags(lost=True)
    assert result.rounds != other.rounds
    assert len(result.lost) == 4  # the parts of one machine
    for number, up in zip(result.lost, sorted(result.up_again), strict=False):
        work = result.parts[number].vehicles * (1e-3 + 50 * 100e-6)
        assert up == pytest.approx(30 + 5 + 2 + work, abs=0.3)  # vehicles of parts are about even
    served = [part.served for part in result.parts]
    assert min(served) > 119.0  # all have caught up: nothing is lost
    slowest = max(result.lags(lost=True))
    assert 7.0 < slowest < result.recovery() < 60.0
    assert max(result.lags(lost=False)) < 1.0  # the others do not notice


def test_without_spare_machines_it_takes_longer_and_too_much_load_never_recovers(simulation):
    setup = simulation.Setup(
        vehicles=2_000, parts=8, cores=4, spare=1, sample=200e-6, until=120.0, lost_at=30.0
    )
    calm = simulation.simulate(setup)
    crowded = simulation.simulate(replace(setup, spare=0))
    assert crowded.recovery() > 1.2 * calm.recovery()
    late = simulation.simulate(replace(setup, spare=0, sample=300e-6))  # 2 x 0.75 of a core
    assert late.recovery() > 85.0 and late.most_at_broker > 0
