"""Simulated vehicle telemetry with planted faults, in place of the private data of the paper.

``generate_telemetry`` has the published size: 80,000 steps of 19 channels, a clean first half, and
30 labelled faults of six kinds in the second half. ``generate_coordination`` only swaps segments of
some channels between two times of the same drive, which keeps the distribution of every channel.
Both depend on ``steps`` and ``seed`` only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np
from numpy.typing import NDArray

from axonad.config import check_int
from axonad.data.faults import ADDITIVE, EDGE, GAP, KINDS, PlantedEvent, Planter, Slot
from axonad.data.vehicle import CHANNELS, SAMPLE_RATE, SENSORS, simulate_drive

__all__ = [
    "CHANNELS", "KINDS", "SAMPLE_RATE", "UNITS", "PlantedEvent", "Telemetry",
    "generate_coordination", "generate_telemetry",
]  # fmt: skip

Array = NDArray[np.float64]

UNITS: dict[str, str] = {sensor.name: sensor.unit for sensor in SENSORS}
MIN_STEPS = 2_000
ANOMALY_RATE = 0.089  # share of anomalous steps in the test half
STEPS_PER_EVENT = 80_000 / 30
FIRST_EVENT = (43_410, 80_000)  # first anomalous step of a drive of this length
MAX_LENGTH = 292
WIDTHS = (2, 1, 2, 3, 1, 2, 4, 2, 1, 3)  # number of channels of each event, repeated
SPIKE_LENGTHS = (1, 2, 3, 5, 8)
LENGTH_QUANTILES = (46, 64, 82, 98, 112, 128, 150, 180, 215, 255, 292)  # of other kinds


@dataclass(frozen=True)
class Telemetry:
    """A simulated drive with its labels and planted events."""

    values: Array  # (steps, 19), in the units of ``UNITS``
    labels: NDArray[np.int8]  # (steps,), 1 inside a planted event
    channels: tuple[str, ...]
    events: tuple[PlantedEvent, ...]  # in order of time
    train_end: int  # first step of the test half; all steps before it are clean
    seed: int
    sample_rate: float = SAMPLE_RATE  # Hz

    @property
    def train(self) -> Array:
        """The clean first half."""
        return self.values[: self.train_end]

    @property
    def test(self) -> Array:
        """The second half, with the events."""
        return self.values[self.train_end :]

    @property
    def test_labels(self) -> NDArray[np.int8]:
        """The labels of the second half."""
        return self.labels[self.train_end :]


def generate_telemetry(*, steps: int = 80_000, seed: int = 2024) -> Telemetry:
    """Return a drive with faults of six kinds planted in its second half.

    Parameters
    ----------
    steps
        Length of the drive, at least 2,000; the number of events is proportional (30 for 80,000).
    seed
        Seed of the road, the driver, the sensors and the faults.

    Examples
    --------
    >>> stream = generate_telemetry(steps=20_000, seed=2024)
    >>> stream.values.shape, len(stream.events)
    ((20000, 19), 8)
    """
    planter = _drive_clean(steps, seed)
    kinds, lengths = _plan(steps, planter.rng)
    widths = _widths(len(kinds), planter.rng)
    for kind, width, slot in zip(kinds, widths, _slots(steps, lengths), strict=True):
        planter.plant(kind, width, slot)
    return _package(planter, seed)


def generate_coordination(*, steps: int = 80_000, seed: int = 2024) -> Telemetry:
    """Return the same drive with faults that no single channel shows.

    Two segments of the test half swap one to four channels of a module; both are labelled as
    ``correlation_break``. Each channel keeps its values and dynamics, but they no longer fit the
    other channels at that time. Parameters are those of :func:`generate_telemetry`.
    """
    planter = _drive_clean(steps, seed)
    pairs = max(1, round(steps / STEPS_PER_EVENT / 2))
    lengths = _lengths(pairs, ANOMALY_RATE * (steps - steps // 2) / 2, planter.rng)
    free = np.zeros(steps, dtype=bool)
    free[_first(steps) : steps - EDGE] = True
    lengths.sort(reverse=True)  # long segments are the hardest to find a partner for
    for length, width in zip(lengths, _widths(pairs, planter.rng), strict=True):
        planter.swap(length, width, free)
    return _package(planter, seed)


def _first(steps: int) -> int:
    """Return the step at which the first event may start."""
    return steps * FIRST_EVENT[0] // FIRST_EVENT[1]


def _drive_clean(steps: int, seed: int) -> Planter:
    """Simulate a clean drive to plant faults into."""
    check_int("steps", steps, low=MIN_STEPS)
    check_int("seed", seed, low=0)
    drive_rng, fault_rng = np.random.default_rng(seed).spawn(2)
    spare = max(steps // 4, 8_000)  # not part of the result: supplies segments of another time
    driven = simulate_drive(steps + spare, drive_rng)
    return Planter(driven[:steps], driven[steps:], steps // 2, fault_rng)


def _package(planter: Planter, seed: int) -> Telemetry:
    events = tuple(sorted(planter.events, key=lambda event: event.start))
    labels = np.zeros(len(planter.values), dtype=np.int8)
    for event in events:
        labels[event.start : event.end] = 1
    return Telemetry(planter.values, labels, CHANNELS, events, len(labels) // 2, int(seed))


def _lengths(count: int, total: float, rng: np.random.Generator) -> list[int]:
    """Return ``count`` event lengths in random order that sum to about ``total``."""
    where = (np.arange(count) + rng.uniform(0.3, 0.7, size=count)) / count
    drawn = np.interp(where, np.linspace(0, 1, len(LENGTH_QUANTILES)), LENGTH_QUANTILES)
    drawn = np.clip(np.round(drawn * total / drawn.sum()), 20, MAX_LENGTH)
    return [int(length) for length in rng.permutation(drawn)]


def _widths(count: int, rng: np.random.Generator) -> list[int]:
    """Return the number of channels of each event, in random order."""
    return [int(width) for width in rng.permutation(list(islice(cycle(WIDTHS), count)))]


def _plan(steps: int, rng: np.random.Generator) -> tuple[list[str], list[int]]:
    """Return kind and length of every event, in order of time."""
    count = max(1, round(steps / STEPS_PER_EVENT))
    kinds = [str(kind) for kind in rng.permutation(list(islice(cycle(KINDS), count)))]
    # The first event has a fixed start, so it needs a kind that can be planted anywhere.
    movable = next(i for i, kind in enumerate(kinds) if kind in ADDITIVE)
    kinds[0], kinds[movable] = kinds[movable], kinds[0]
    spikes = kinds.count("spike")
    short = [int(n) for n in islice(cycle(rng.permutation(SPIKE_LENGTHS)), spikes)]
    total = ANOMALY_RATE * (steps - steps // 2) - sum(short)
    long = _lengths(count - spikes, total, rng)
    return kinds, [short.pop() if kind == "spike" else long.pop() for kind in kinds]


def _slots(steps: int, lengths: list[int]) -> list[Slot]:
    """Return the range of possible starts of each event, ``GAP`` apart; the first is fixed."""
    first = _first(steps)
    begin = first + lengths[0] + GAP
    spare = steps - EDGE - begin - sum(lengths[1:]) - GAP * (len(lengths) - 1)
    slots, share = [Slot(first, first, lengths[0])], spare // max(1, len(lengths) - 1)
    for length in lengths[1:]:
        slots.append(Slot(begin, begin + share, length))
        begin += share + length + GAP
    return slots
