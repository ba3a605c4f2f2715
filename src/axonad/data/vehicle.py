"""Simulate a car, its driver and the road: a clean drive with 19 sensor channels.

The road is a function of distance (curvature, chosen speed, slope, stops), the driver and the drive
train are a loop over time, and lateral motion and sensor readings follow from both. Quantities are
in SI units, except for the result, which has the units of :data:`SENSORS`.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SAMPLE_RATE = 10.0  # Hz
DT = 1.0 / SAMPLE_RATE
GRAVITY = 9.81
MASS, WHEEL_RADIUS, WHEELBASE, TRACK = 1550.0, 0.32, 2.7, 1.56
CHARACTERISTIC_SPEED = 26.0  # m/s, at which understeer halves the yaw rate
STEERING_RATIO = 15.0  # steering wheel degrees per road wheel degree
RATIOS = (14.0, 8.5, 5.8, 4.25, 3.3, 2.6)  # gears 1 to 6, final drive included
IDLE_SPEED = 800.0  # rpm
BRAKING = 190.0  # N per bar


class Sensor(NamedTuple):
    """The properties of one channel."""

    name: str
    unit: str
    resolution: float
    noise: float  # standard deviation
    low: float  # range of readings
    high: float
    tolerance: float  # a larger error contradicts the other channels


SENSORS: tuple[Sensor, ...] = (
    Sensor("steering_angle", "deg", 0.1, 0.05, -540.0, 540.0, 4.0),
    Sensor("steering_torque", "Nm", 0.01, 0.06, -12.0, 12.0, 0.5),
    Sensor("yaw_rate", "deg/s", 0.01, 0.08, -75.0, 75.0, 1.5),
    Sensor("lateral_accel", "m/s2", 0.01, 0.04, -15.0, 15.0, 0.4),
    Sensor("roll_angle", "deg", 0.01, 0.03, -10.0, 10.0, 0.25),
    Sensor("longitudinal_accel", "m/s2", 0.01, 0.04, -15.0, 15.0, 0.35),
    Sensor("accelerator_pedal", "%", 0.4, 0.0, 0.0, 100.0, 8.0),
    Sensor("brake_pressure", "bar", 0.1, 0.05, 0.0, 200.0, 1.5),
    Sensor("engine_speed", "rpm", 1.0, 6.0, 0.0, 7500.0, 200.0),
    Sensor("engine_torque", "Nm", 0.5, 1.0, -100.0, 400.0, 20.0),
    Sensor("gear", "-", 1.0, 0.0, 1.0, 6.0, 0.5),
    Sensor("vehicle_speed", "km/h", 0.1, 0.05, 0.0, 260.0, 2.0),
    Sensor("wheel_speed_fl", "km/h", 0.06, 0.08, 0.0, 260.0, 2.0),
    Sensor("wheel_speed_fr", "km/h", 0.06, 0.08, 0.0, 260.0, 2.0),
    Sensor("wheel_speed_rl", "km/h", 0.06, 0.08, 0.0, 260.0, 2.0),
    Sensor("wheel_speed_rr", "km/h", 0.06, 0.08, 0.0, 260.0, 2.0),
    Sensor("fuel_rate", "L/h", 0.02, 0.04, 0.0, 60.0, 1.5),
    Sensor("manifold_pressure", "kPa", 0.2, 0.3, 10.0, 120.0, 6.0),
    Sensor("coolant_temperature", "degC", 0.1, 0.03, 20.0, 130.0, 1.0),
)
CHANNELS: tuple[str, ...] = tuple(sensor.name for sensor in SENSORS)


class Road(NamedTuple):
    """A kind of road; pairs are the bounds of a uniform distribution."""

    leg: tuple[float, float]  # m until another kind of road begins
    limits: tuple[float, ...]  # km/h
    straight: tuple[float, float]  # m between two curves
    radius: tuple[float, float]  # m
    angle: tuple[float, float]  # deg, of a curve
    stop: float  # probability of a stop on a straight
    overtake: float  # probability of a slower car on a straight
    gradient: float  # standard deviation of the slope


ROADS = (
    Road((500, 1100), (30, 50, 50), (40, 170), (13, 45), (35, 90), 0.4, 0.0, 0.012),
    Road((1200, 2600), (70, 80, 100), (60, 380), (70, 320), (15, 70), 0.07, 0.4, 0.025),
    Road((2200, 4200), (100, 120, 130), (200, 900), (480, 1300), (8, 32), 0.0, 0.5, 0.015),
)


class Route(NamedTuple):
    """Curvature (1/m), chosen speed (m/s) and slope of the road per metre, and the stops (m)."""

    curvature: Array
    speed: Array
    slope: Array
    stops: list[int]


def simulate_drive(steps: int, rng: np.random.Generator) -> Array:
    """Return ``steps`` samples of clean driving, ``(steps, 19)`` in the units of ``SENSORS``."""
    route_rng, driver_rng, sensor_rng = rng.spawn(3)
    route = _build_route(int(steps * DT * 36.0) + 2000, route_rng)
    return _measure(route, _drive(route, steps, driver_rng), sensor_rng)


def lag(signal: Array, seconds: float) -> Array:
    """Return ``signal`` after a first-order low-pass filter, started at its first value."""
    gain = 1.0 - float(np.exp(-DT / seconds))
    return np.array([*accumulate(signal.tolist(), lambda state, new: state + gain * (new - state))])


def _wander(steps: int, seconds: float, rng: np.random.Generator) -> Array:
    """Return smooth noise of unit variance with a correlation time of ``seconds``."""
    course = lag(lag(rng.normal(size=steps + 600), seconds), 0.3)[600:]
    return course / max(float(course.std()), 1e-9)


# ── road ──────────────────────────────────────────────────────────────────────────────────────────
def _build_route(metres: int, rng: np.random.Generator) -> Route:
    route = Route(np.zeros(metres), np.full(metres, 50 / 3.6), np.zeros(metres), [])
    at, order = 0, list[int]()
    while at < metres:
        order = order or [int(i) for i in rng.permutation(len(ROADS))]  # each kind once per cycle
        road = ROADS[order.pop()]
        end = min(metres, at + int(rng.uniform(*road.leg)))
        route.speed[at:end] = float(rng.choice(road.limits)) / 3.6
        route.slope[at:end] = road.gradient * rng.normal(size=end - at)
        while at < end:
            at = _add_curve(road, _add_straight(road, at, route, rng), route, rng)
    curvature = np.convolve(route.curvature, np.full(9, 1 / 9), mode="same")
    speed = np.minimum(route.speed, np.sqrt(2.6 / np.maximum(np.abs(curvature), 1e-4)))
    speed[route.stops] = 0.0
    ramp = 3.4 * np.arange(metres)  # limits braking to 1.7 m/s2
    square = np.minimum.accumulate((speed**2 + ramp)[::-1])[::-1] - ramp
    speed = np.sqrt(np.maximum(square, 0.0))
    slope = np.convolve(route.slope, np.full(150, 150**-0.5), mode="same")  # keeps the variance
    return Route(curvature, speed, slope, route.stops)


def _add_straight(road: Road, at: int, route: Route, rng: np.random.Generator) -> int:
    """Add a straight at ``at``, with a stop or a slower car; return its end."""
    length = int(rng.uniform(*road.straight))
    end = at + length
    if end >= len(route.speed) - 50:
        return end
    if rng.random() < road.stop:
        route.stops.append(end - 5)
    elif length > 200 and rng.random() < road.overtake:
        pull_out, pull_in = at + int(0.45 * length), at + int(0.8 * length)
        route.speed[at:pull_out] *= rng.uniform(0.68, 0.85)
        for where, side in ((pull_out, 1.0), (pull_in, -1.0)):
            shift = int(rng.uniform(60, 110))
            sway = np.sin(np.linspace(0, 2 * np.pi, shift))  # changes to a lane 3.5 m away
            lane = route.curvature[where : where + shift]
            lane += (side * 3.5 * 2 * np.pi / shift**2 * sway)[: len(lane)]
    return end


def _add_curve(road: Road, at: int, route: Route, rng: np.random.Generator) -> int:
    """Add a curve at ``at`` with gradual entry and exit; return its end."""
    radius, angle = rng.uniform(*road.radius), np.radians(rng.uniform(*road.angle))
    length = int(radius * angle * 1.3) + 8
    shape = np.interp(np.linspace(0, 1, length), (0, 0.3, 0.7, 1), (0, 1, 1, 0))
    here = route.curvature[at : at + length]
    here += rng.choice((-1.0, 1.0)) / radius * shape[: len(here)]
    return at + length


# ── driver and drive train ────────────────────────────────────────────────────────────────────────
class Car:
    """Longitudinal dynamics: pedals, engine, automatic gearbox and speed."""

    def __init__(self) -> None:
        self.speed = self.pedal = self.brake = self.torque = 0.0
        self.rpm, self.gear, self.since_shift = IDLE_SPEED, 1, 0

    def advance(self, wanted: float, slope: float) -> tuple[float, ...]:
        """Advance one step with the acceleration the driver wants; return the new state."""
        speed, rpm, ratio = self.speed, self.rpm, RATIOS[self.gear - 1]
        resistance = 0.42 * speed * speed + (0.012 + slope) * MASS * GRAVITY * (speed > 0.05)
        most, friction = 235.0 - 1.1e-5 * (rpm - 3600.0) ** 2, 14.0 + 0.006 * rpm
        swept = most + friction
        # pedal and brake follow the wanted acceleration with the delay of a foot
        load = ((MASS * wanted + resistance) * WHEEL_RADIUS / ratio + friction) / swept
        self.pedal += 0.35 * (max(0.0, min(1.0, load)) - self.pedal)
        self.brake += 0.4 * (max(0.0, -load) * swept * ratio / WHEEL_RADIUS / BRAKING - self.brake)
        idling = (friction + 10.0) / swept if rpm < 1050.0 else 0.0
        demand = max(self.pedal, idling) * swept - friction
        if self.since_shift < 3:
            demand *= 0.35  # the gearbox reduces the torque while it shifts
        self.torque += 0.55 * (demand - self.torque)
        push = self.torque * ratio / WHEEL_RADIUS - BRAKING * self.brake
        acceleration = (push - resistance) / (MASS * (1.03 + 0.004 * ratio))
        if speed + acceleration * DT < 0.05 and (self.brake > 2.0 or acceleration <= 0):
            acceleration = -speed / DT
        self.speed = max(0.0, speed + acceleration * DT)
        locked = self.speed / WHEEL_RADIUS * ratio * 9.549
        self.rpm += 0.5 * (max(locked, IDLE_SPEED + 900.0 * self.pedal) - rpm)
        self._shift(locked)
        motion = (self.speed, acceleration, self.pedal, self.brake, self.torque, self.rpm)
        return *motion, self.gear, push, slope, most

    def _shift(self, locked: float) -> None:
        """Shift if the engine would be too fast or too slow for the pedal position."""
        up, down = 1800.0 + 2300.0 * self.pedal, 1000.0 + 1000.0 * self.pedal
        change = int(locked > up and self.gear < 6) - int(locked < down and self.gear > 1)
        self.since_shift += 1
        if change and self.since_shift > 12:
            self.gear, self.since_shift = self.gear + change, 0


def _drive(route: Route, steps: int, rng: np.random.Generator) -> Array:
    """Return position and state of the car over ``steps``, one row per quantity."""
    mood = (1.0 + 0.035 * _wander(steps, 12.0, rng)).tolist()
    foot = (0.07 * _wander(steps, 2.0, rng)).tolist()
    profile, slopes = route.speed.tolist(), route.slope.tolist()
    lines = iter([*route.stops, len(profile)])
    car, position, line, wait = Car(), 5.0, next(lines), 0.0
    rows = []
    for step in range(steps):
        if wait > 0:
            wait -= DT
            wanted = -1.5
            if wait <= 0:
                position, line = line + 1.0, next(lines)
        else:
            speed = car.speed
            ahead = profile[min(int(position + 1.0 + 0.9 * speed), line)]
            wanted = 0.5 * (ahead * mood[step] - speed) + foot[step] * (speed > 3.0)
            wanted = max(-3.5, min(2.0 - 0.04 * speed, wanted))
            if line - position < (3.0 if speed < 4.0 else 0.0):
                wait = float(rng.uniform(4.0, 22.0))
        rows.append((position, *car.advance(wanted, slopes[int(position)])))
        position += car.speed * DT
    return np.array(rows).T


# ── lateral motion and sensors ────────────────────────────────────────────────────────────────────
def _measure(route: Route, states: Array, rng: np.random.Generator) -> Array:
    """Return the readings of the 19 sensors for the ``states`` of a drive."""
    position, speed, acceleration, pedal, brake, torque, rpm, gear, push, slope, most = states
    steps = len(speed)
    angle, yaw = _steer(route, position, speed, rng)
    roughness = np.sqrt(speed / 15.0)
    roll = lag(0.55 * speed * yaw, 0.2) + 0.05 * roughness * _wander(steps, 0.4, rng)
    lateral = speed * yaw + GRAVITY * np.radians(roll) + 0.05 * roughness * rng.normal(size=steps)
    rate = np.gradient(angle, DT)
    effort = 4.2 * np.tanh(speed * yaw / 3.2) + 0.35 * np.tanh(rate / 8.0) + 0.008 * rate
    effort += 0.012 * angle * np.exp(-speed / 2.5)
    friction = 14.0 + 0.006 * rpm
    indicated = np.maximum(torque + friction, 0.0)
    filling = lag(24.0 + 76.0 * np.clip(indicated / (most + friction), 0.0, 1.0), 0.12)
    fuel = lag(indicated * rpm * 0.1047 / 0.34 / 3.2e7 * 3600.0, 0.15)
    felt = acceleration + GRAVITY * slope + 0.06 * roughness * rng.normal(size=steps)
    wheels = _wheel_speeds(speed, yaw, push, rng)
    sideways = (angle, effort, np.degrees(yaw), lateral, roll)
    forwards = (felt, 100.0 * pedal, brake, rpm, torque, gear, 3.6 * lag(speed, 0.1), *wheels)
    clean = np.column_stack((*sideways, *forwards, fuel, filling, _coolant(fuel, speed)))
    noise = rng.normal(size=clean.shape) * [sensor.noise for sensor in SENSORS]
    return as_read(clean + noise)


def as_read(values: Array) -> Array:
    """Return ``values`` clipped to the range and rounded to the resolution of the sensors."""
    resolution = np.array([sensor.resolution for sensor in SENSORS])
    low, high = [s.low for s in SENSORS], [s.high for s in SENSORS]
    return np.asarray(np.clip(np.round(values / resolution) * resolution, low, high))


def _steer(route: Route, position: Array, speed: Array, rng: np.random.Generator) -> list[Array]:
    """Return the steering wheel angle (deg) to follow the road, and the yaw rate (rad/s)."""
    seen = route.curvature[(position + 0.35 * speed).astype(int)]
    understeer = WHEELBASE * (1.0 + (speed / CHARACTERISTIC_SPEED) ** 2)
    intended = STEERING_RATIO * np.degrees(np.arctan(seen * understeer))
    intended += (0.9 + 2.5 / (1.0 + speed)) * _wander(len(speed), 1.0, rng) * (speed > 0.5)
    angle = lag(lag(intended, 0.15), 0.1)
    yaw = speed * np.tan(np.radians(angle / STEERING_RATIO)) / understeer
    return [angle, lag(yaw, 0.12)]


def _wheel_speeds(speed: Array, yaw: Array, push: Array, rng: np.random.Generator) -> list[Array]:
    """Return the four wheel speeds (km/h): front left, front right, rear left, rear right."""
    front_share = np.where(push > 0, 1.0, 0.65)  # the front axle drives; both brake
    wheels = []
    for front in (True, False):
        slip = push * (front_share if front else 1.0 - front_share) / 1.6e5
        for side in (-1.0, 1.0):
            along = np.hypot(speed + side * yaw * TRACK / 2, WHEELBASE * yaw * front)
            wheels.append(3.6 * along * (1.0 + slip) * (1.0 + 0.001 * rng.normal()))
    return wheels


def _coolant(fuel: Array, speed: Array) -> Array:
    """Return the coolant temperature (°C) of a warm engine with a thermostat."""
    temperature, course = 90.0, []
    for heat, wind in zip((0.011 * fuel).tolist(), (0.5 + 0.02 * speed).tolist(), strict=True):
        opening = min(1.0, max(0.0, (temperature - 84.0) / 14.0))
        temperature += DT * (heat - 0.09 * opening * wind)
        course.append(temperature)
    return np.array(course)
