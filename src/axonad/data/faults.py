"""Plant sensor faults of six kinds into a clean drive.

A fault affects channels of one module (a control unit with its harness). It is planted only where
it changes the data: in most steps every affected channel is off by more than its tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.data.vehicle import CHANNELS, SENSORS, as_read
from axonad.errors import ConfigError

Array = NDArray[np.float64]
Columns = NDArray[np.intp]

KINDS = ("level_shift", "correlation_break", "flatline", "drift", "variance_jump", "spike")
ADDITIVE = frozenset({"level_shift", "drift", "variance_jump"})  # can be planted at any step
MODULES: tuple[tuple[str, ...], ...] = (
    ("steering_angle", "steering_torque"),
    ("yaw_rate", "lateral_accel", "roll_angle", "longitudinal_accel"),
    ("accelerator_pedal", "brake_pressure"),
    ("engine_speed", "engine_torque", "gear", "fuel_rate", "manifold_pressure"),
    ("engine_torque", "fuel_rate", "manifold_pressure", "coolant_temperature"),
    ("vehicle_speed", "wheel_speed_fl", "wheel_speed_fr", "wheel_speed_rl", "wheel_speed_rr"),
)
STEPWISE = frozenset({"gear"})  # integers: only flatline and correlation_break apply
TOLERANCES = np.array([sensor.tolerance for sensor in SENSORS])
MATERIAL_SHARE = 0.6  # share of steps that have to exceed the tolerance, in every channel
ATTEMPTS = 300  # positions and channels tried for one event
SETS_PER_START = 6  # sets of channels tried at one position before the next
GAP = 150  # minimum of normal steps between events: a window of 100 contains only one event
EDGE = 5  # steps compared on both sides of a seam between two segments


@dataclass(frozen=True)
class PlantedEvent:
    """A planted fault: its kind, the affected channels and its steps ``[start, end)``."""

    kind: str
    channels: tuple[str, ...]
    start: int
    end: int


class Slot(NamedTuple):
    """The first and last possible start of an event, and its length."""

    earliest: int
    latest: int
    length: int


class Normal(NamedTuple):
    """Statistics of each channel in the clean training half."""

    spread: Array  # standard deviation
    least: Array
    most: Array
    reach: Array  # standard deviation of the change over 2 * EDGE steps

    @classmethod
    def of(cls, train: Array) -> Normal:
        """Return the statistics of ``train`` (time, channels)."""
        reach = (train[2 * EDGE :] - train[: -2 * EDGE]).std(axis=0)
        return cls(train.std(axis=0), train.min(axis=0), train.max(axis=0), reach)


def choose_columns(count: int, kind: str, rng: np.random.Generator) -> Columns:
    """Return the columns of ``count`` channels of one module to which ``kind`` applies."""
    excluded = frozenset() if kind in ("correlation_break", "flatline") else STEPWISE
    modules = [[name for name in module if name not in excluded] for module in MODULES]
    modules = [module for module in modules if len(module) >= count]
    names = rng.choice(modules[int(rng.integers(len(modules)))], size=count, replace=False)
    return np.sort([CHANNELS.index(str(name)) for name in names])


def material_share(old: Array, new: Array, columns: Columns) -> float:
    """Return the share of steps off by more than the tolerance, in the least changed column."""
    return float((np.abs(new - old) > TOLERANCES[columns]).mean(axis=0).min())


def corrupt(
    kind: str, old: Array, columns: Columns, normal: Normal, rng: np.random.Generator
) -> Array:
    """Return ``old``, the affected ``columns`` of an event, as faulty sensors would show them."""
    length, width = old.shape
    size = normal.spread[columns] * rng.choice((-1.0, 1.0), size=width)
    if kind == "flatline":
        new = np.repeat(old[:1], length, axis=0)
    elif kind == "drift":
        new = old + np.linspace(0.0, 1.0, length)[:, None] * size * rng.uniform(1.2, 2.5)
    elif kind == "level_shift":
        new = old + size * rng.uniform(0.6, 1.6)
    elif kind == "variance_jump":
        new = old + rng.normal(size=old.shape) * size * rng.uniform(0.5, 1.2)
    else:  # spike
        new = old + size * rng.uniform(2.5, 5.0)
    return _read(new, columns)


def _read(new: Array, columns: Columns) -> Array:
    """Return ``new`` as the sensors of these columns would show it."""
    full = np.zeros((len(new), len(CHANNELS)))
    full[:, columns] = new
    return as_read(full)[:, columns]


def fitting_starts(here: Array, pool: Array, begins: Columns, off: Array) -> Columns:
    """Return those ``begins`` at which a segment of ``pool`` fits ``here`` at both ends.

    Parameters
    ----------
    here
        The steps to be replaced, with ``EDGE`` more steps on both sides.
    pool
        The drive that supplies the segment; same channels as ``here``.
    begins
        Candidate starts of the segment in ``pool``.
    off
        Largest difference of level and trend at the two seams, by channel.
    """
    length = len(here) - 2 * EDGE
    begins = begins[(begins >= EDGE) & (begins <= len(pool) - length - EDGE)]
    for at, ahead in ((EDGE, 0), (EDGE + length, length)):
        there = begins + ahead
        level = np.abs(pool[there - 1] + pool[there] - here[at - 1] - here[at]) / 2
        trend = pool[there + EDGE - 1] - pool[there - EDGE] - here[at + EDGE - 1] + here[at - EDGE]
        begins = begins[((level < off) & (np.abs(trend) < off)).all(axis=1)]
    return begins


def bend(course: Array, before: Array, after: Array) -> Array:
    """Return ``course`` shifted by ``before`` at its first step and by ``after`` at its last.

    Both offsets fade to 0, so that the course joins its new neighbours without a jump.
    """
    length = len(course)
    fade = min(20, max(1, length // 4))
    weight = np.zeros(length)
    weight[:fade] = 0.5 + 0.5 * np.cos(np.pi * np.arange(fade) / fade)
    return np.asarray(course + np.outer(weight, before) + np.outer(weight[::-1], after))


class Planter:
    """Plants faults into ``values``, a copy of the ``clean`` drive, and lists them in ``events``.

    ``pool`` is another drive of the same car, which supplies segments for correlation breaks.
    """

    def __init__(self, clean: Array, pool: Array, train_end: int, rng: np.random.Generator) -> None:
        self.clean, self.pool, self.rng = clean, pool, rng
        self.normal = Normal.of(clean[:train_end])
        self.values = clean.copy()
        self.events: list[PlantedEvent] = []

    def plant(self, kind: str, width: int, slot: Slot) -> None:
        """Plant a fault of ``kind`` in ``width`` channels, starting in ``slot``."""
        anywhere = self.rng.permutation(len(self.pool))
        for what in (kind, "level_shift"):  # a level shift can be planted anywhere
            for attempt in range(ATTEMPTS):
                start = int(self.rng.integers(slot.earliest, slot.latest + 1))
                event = range(start, start + slot.length)
                columns = choose_columns(width, what, self.rng)
                new = old = self.clean[event.start : event.stop, columns]
                if what != "correlation_break":
                    new = corrupt(what, old, columns, self.normal, self.rng)
                else:
                    begin = self._find(self.pool, anywhere, event, columns, attempt)
                    if begin is not None:
                        new = self._join(self.pool, begin, event, columns)
                if material_share(old, new, columns) >= MATERIAL_SHARE:
                    self._write(what, event, new, columns)
                    return
        raise ConfigError(f"no room for a {kind} at step {slot.earliest}; choose another seed")

    def swap(self, length: int, width: int, free: NDArray[np.bool_]) -> None:
        """Swap ``width`` channels between two segments of ``free`` steps, and mark them as used.

        Segments with much and little activity are paired, so that activity alone does not reveal
        an event.
        """
        room = np.flatnonzero(_room(free, length))
        activity = self._activity(length, room)
        starts = self.rng.permutation(room)[: ATTEMPTS // SETS_PER_START]
        for attempt in range(len(starts) * SETS_PER_START):
            start = int(starts[attempt // SETS_PER_START])
            apart = room[np.abs(room - start) >= length + GAP]
            apart = apart[np.argsort(np.abs(activity[apart] + activity[start] - 1.0))]
            columns = choose_columns(width, "correlation_break", self.rng)
            here = range(start, start + length)
            begin = self._find(self.clean, apart, here, columns, attempt)
            if begin is None:
                continue
            there = range(begin, begin + length)
            for event, source in ((here, begin), (there, start)):
                new = self._join(self.clean, source, event, columns)
                self._write("correlation_break", event, new, columns)
                free[max(0, event.start - GAP) : event.stop + GAP] = False
            return
        raise ConfigError(
            f"no two segments of {length} steps can be swapped in {len(free)} steps; use more steps"
        )

    def _activity(self, length: int, room: Columns) -> Array:
        """Return the total change in the ``length`` steps from each step, as a rank in ``room``."""
        moves = np.abs(np.diff(self.clean, axis=0, append=self.clean[-1:])) / self.normal.spread
        total = np.concatenate(([0.0], np.cumsum(moves.mean(axis=1))))
        amount = total[np.minimum(np.arange(len(moves)) + length, len(moves))] - total[:-1]
        return np.asarray(np.searchsorted(np.sort(amount[room]), amount) / max(1, len(room)))

    def _find(
        self, pool: Array, begins: Columns, event: range, columns: Columns, attempt: int
    ) -> int | None:
        """Return the first of ``begins`` whose segment fits ``event`` at both ends, not inside.

        Later attempts allow larger differences at the ends.
        """
        here = self.clean[event.start - EDGE : event.stop + EDGE, columns]
        off = self.normal.reach[columns] * (0.4 + 0.8 * attempt / ATTEMPTS)
        pool = pool[:, columns]
        for begin in fitting_starts(here, pool, begins, off)[:60]:
            found = pool[begin : begin + len(event)]
            if material_share(here[EDGE:-EDGE], found, columns) >= MATERIAL_SHARE:
                return int(begin)
        return None

    def _join(self, pool: Array, begin: int, event: range, columns: Columns) -> Array:
        """Return the segment of ``pool`` from ``begin``, adjusted to join the drive smoothly."""
        end = begin + len(event)
        before = self.clean[event.start - 1, columns] - pool[begin - 1, columns]
        after = self.clean[event.stop, columns] - pool[end, columns]
        stepwise = [CHANNELS[column] in STEPWISE for column in columns]
        before[stepwise] = after[stepwise] = 0.0
        course = bend(pool[begin:end, columns], before, after)
        low, high = self.normal.least[columns], self.normal.most[columns]
        return _read(np.clip(course, low, high), columns)

    def _write(self, kind: str, event: range, new: Array, columns: Columns) -> None:
        self.values[event.start : event.stop, columns] = new
        names = tuple(CHANNELS[column] for column in columns)
        self.events.append(PlantedEvent(kind, names, event.start, event.stop))


def _room(free: NDArray[np.bool_], length: int) -> NDArray[np.bool_]:
    """Return for each step whether the ``length`` steps from it are free."""
    taken = np.concatenate(([0], np.cumsum(~free)))
    room = np.zeros(len(free), dtype=bool)
    room[: len(free) - length + 1] = taken[length:] == taken[: len(free) - length + 1]
    return room
