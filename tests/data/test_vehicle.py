"""The simulated drive obeys the physics it claims."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.data.vehicle import CHANNELS, SENSORS, lag, simulate_drive

STEPS = 30_000


@pytest.fixture(scope="module")
def drive() -> dict[str, np.ndarray]:
    values = simulate_drive(STEPS, np.random.default_rng(7))
    assert values.shape == (STEPS, 19)
    return dict(zip(CHANNELS, values.T, strict=True))


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def test_channels_are_nineteen_distinct_lower_snake_case_names_with_units():
    assert len(set(CHANNELS)) == 19
    assert all(name == name.lower() and name.isidentifier() for name in CHANNELS)
    assert all(sensor.unit for sensor in SENSORS)


def test_readings_are_finite_inside_the_sensor_range_and_on_its_resolution(drive):
    for sensor in SENSORS:
        reading = drive[sensor.name]
        assert np.isfinite(reading).all()
        assert reading.min() >= sensor.low
        assert reading.max() <= sensor.high
        ticks = reading / sensor.resolution
        np.testing.assert_allclose(ticks, np.round(ticks), atol=1e-6)


def test_every_channel_moves_and_none_sits_at_the_end_of_its_range(drive):
    for sensor in SENSORS:
        assert drive[sensor.name].std() > 2 * sensor.noise
        if sensor.name not in ("gear", "accelerator_pedal"):
            assert (drive[sensor.name] == sensor.high).mean() == 0.0


def test_yaw_follows_steering_at_speed_as_in_a_bicycle_model(drive):
    speed = drive["vehicle_speed"] / 3.6
    fast = speed > 10
    understeer = 2.7 * (1 + (speed / 26.0) ** 2)
    expected = np.degrees(speed * np.tan(np.radians(drive["steering_angle"] / 15)) / understeer)
    assert correlation(expected[fast], drive["yaw_rate"][fast]) > 0.98
    for kmh in (40, 70, 100):
        band = np.abs(drive["vehicle_speed"] - kmh) < 6
        assert correlation(drive["steering_angle"][band], drive["yaw_rate"][band]) > 0.9


def test_lateral_acceleration_is_speed_times_yaw_rate(drive):
    turning = drive["vehicle_speed"] / 3.6 * np.radians(drive["yaw_rate"])
    assert correlation(turning, drive["lateral_accel"]) > 0.98
    assert np.abs(turning - drive["lateral_accel"]).mean() < 0.15
    assert correlation(drive["roll_angle"], drive["lateral_accel"]) > 0.95


def test_wheels_agree_with_the_vehicle_speed_and_differ_as_the_car_turns(drive):
    for wheel in ("fl", "fr", "rl", "rr"):
        off = drive[f"wheel_speed_{wheel}"] - drive["vehicle_speed"]
        assert np.abs(off).mean() < 1.0
    turn = 3.6 * 1.56 * np.radians(drive["yaw_rate"])
    assert correlation(drive["wheel_speed_rr"] - drive["wheel_speed_rl"], turn) > 0.95


def test_speed_is_the_integral_of_acceleration_on_the_level(drive):
    # the sensor also feels the slope, which averages out over the drive
    change = np.diff(drive["vehicle_speed"][::20]) / 3.6 / 2.0
    felt = drive["longitudinal_accel"][: len(change) * 20].reshape(-1, 20).mean(axis=1)
    assert correlation(change, felt) > 0.9


def test_engine_speed_follows_from_speed_and_gear_and_fuel_from_power(drive):
    for gear in (3, 4, 5, 6):
        steady = (drive["gear"] == gear) & (drive["engine_speed"] > 1200)
        assert correlation(drive["vehicle_speed"][steady], drive["engine_speed"][steady]) > 0.9
    power = drive["engine_torque"] * drive["engine_speed"]
    assert correlation(power, drive["fuel_rate"]) > 0.95


def test_pedals_are_not_pressed_together_and_braking_slows_the_car(drive):
    both = (drive["brake_pressure"] > 3) & (drive["accelerator_pedal"] > 15)
    assert both.mean() < 0.01
    braking = (drive["brake_pressure"] > 5) & (drive["vehicle_speed"] > 20)
    assert drive["longitudinal_accel"][braking].mean() < -0.7


def test_the_car_stops_shifts_and_cruises_in_both_halves(drive):
    for half in (slice(None, STEPS // 2), slice(STEPS // 2, None)):
        speed, gear = drive["vehicle_speed"][half], drive["gear"][half]
        assert 0.01 < (speed < 0.5).mean() < 0.25  # waits at stops
        assert ((speed > 1) & (speed < 9)).mean() < 0.06  # and does not creep past them
        assert (speed > 85).mean() > 0.1
        assert set(np.unique(gear)) == {1, 2, 3, 4, 5, 6}
        assert np.count_nonzero(np.diff(gear)) < len(gear) / 30  # no hunting


def test_same_generator_same_drive_and_no_global_state():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = simulate_drive(500, np.random.default_rng(1))
    np.testing.assert_array_equal(first, simulate_drive(500, np.random.default_rng(1)))
    assert not np.array_equal(first, simulate_drive(500, np.random.default_rng(2)))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_lag_equals_its_recursion():
    signal = np.random.default_rng(0).normal(size=50)
    state, expected = signal[0], []
    for value in signal:
        state += (1 - np.exp(-0.1 / 0.3)) * (value - state)
        expected.append(state)
    np.testing.assert_allclose(lag(signal, 0.3), expected)
