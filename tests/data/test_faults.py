"""Each fault does what its name says, and replaced courses join without a jump."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.data.faults import (
    EDGE,
    KINDS,
    MODULES,
    Normal,
    bend,
    choose_columns,
    corrupt,
    fitting_starts,
    material_share,
)
from axonad.data.vehicle import CHANNELS, SENSORS, simulate_drive

COLUMNS = np.array([CHANNELS.index("steering_angle"), CHANNELS.index("steering_torque")])


@pytest.fixture(scope="module")
def drive() -> np.ndarray:
    return simulate_drive(6_000, np.random.default_rng(3))


def strike(kind: str, drive: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Normal]:
    normal, old = Normal.of(drive), drive[2000:2100][:, COLUMNS]
    return old, corrupt(kind, old, COLUMNS, normal, np.random.default_rng(seed)), normal


def test_flatline_holds_the_first_value(drive):
    old, new, _ = strike("flatline", drive)
    np.testing.assert_array_equal(new, np.repeat(old[:1], len(old), axis=0))


def test_level_shift_moves_every_step_by_one_offset(drive):
    old, new, normal = strike("level_shift", drive)
    offset = new - old
    assert np.ptp(offset, axis=0).max() < 0.02
    assert (np.abs(offset[0]) / normal.spread[COLUMNS] > 0.55).all()


def test_drift_starts_at_nothing_and_grows_steadily(drive):
    old, new, normal = strike("drift", drive)
    away = np.abs(new - old)
    assert (away[0] < 0.02).all()
    assert (away[-1] > normal.spread[COLUMNS]).all()
    assert (np.diff(away, axis=0) > -0.11).all()  # but for rounding to the resolution


def test_variance_jump_adds_noise_around_the_old_course(drive):
    old, new, normal = strike("variance_jump", drive)
    added = new - old
    assert (added.std(axis=0) > 0.35 * normal.spread[COLUMNS]).all()
    assert (np.abs(added.mean(axis=0)) < 0.5 * added.std(axis=0)).all()


def test_spike_is_large(drive):
    old, new, normal = strike("spike", drive)
    assert (np.abs(new - old) > 2.4 * normal.spread[COLUMNS]).all()


def test_faulty_readings_stay_on_what_the_sensor_can_show(drive):
    pedal = np.array([CHANNELS.index("accelerator_pedal")])
    sensor = SENSORS[pedal[0]]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        new = corrupt("level_shift", drive[:300][:, pedal], pedal, Normal.of(drive), rng)
        assert new.min() >= sensor.low
        assert new.max() <= sensor.high
        np.testing.assert_allclose(new / sensor.resolution, np.round(new / sensor.resolution))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_struck_channels_belong_to_one_module_and_gear_only_sticks_or_strays(kind, count):
    for seed in range(30):
        columns = choose_columns(count, kind, np.random.default_rng(seed))
        names = {CHANNELS[column] for column in columns}
        assert len(names) == count
        assert any(names <= set(module) for module in MODULES)
        assert kind in ("flatline", "correlation_break") or "gear" not in names


def test_every_channel_can_be_struck():
    assert {name for module in MODULES for name in module} == set(CHANNELS)


def test_material_share_is_that_of_the_least_changed_channel():
    old = np.zeros((10, 2))
    new = np.zeros((10, 2))
    new[:8, 0], new[:3, 1] = 100.0, 100.0
    assert material_share(old, new, COLUMNS) == pytest.approx(0.3)
    assert material_share(old, old, COLUMNS) == 0.0


def test_bend_meets_both_ends_and_leaves_the_middle():
    course = np.random.default_rng(0).normal(size=(100, 2))
    before, after = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    bent = bend(course, before, after)
    np.testing.assert_allclose(bent[0] - course[0], before)
    np.testing.assert_allclose(bent[-1] - course[-1], after)
    np.testing.assert_array_equal(bent[20:80], course[20:80])


def test_fitting_starts_equal_a_slow_search(drive):
    start, length = 2000, 60
    course = drive[:, COLUMNS]
    here = course[start - EDGE : start + length + EDGE]
    begins, off = np.arange(len(drive)), np.array([5.0, 0.6])
    expected = []
    for begin in range(EDGE, len(drive) - length - EDGE + 1):
        there = course[begin - EDGE : begin + length + EDGE]
        fits = True
        for at in (EDGE, EDGE + length):
            level = (there[at - 1] + there[at]) / 2 - (here[at - 1] + here[at]) / 2
            trend = (there[at + EDGE - 1] - there[at - EDGE]) - (
                here[at + EDGE - 1] - here[at - EDGE]
            )
            fits &= bool((np.abs(level) < off).all() and (np.abs(trend) < off).all())
        if fits:
            expected.append(begin)
    assert start in expected
    np.testing.assert_array_equal(fitting_starts(here, course, begins, off), expected)
