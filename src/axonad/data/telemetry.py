"""Generated vehicle telemetry: a stand-in for the in-vehicle stream of the paper, which is private.

``generate_telemetry`` has its published shape: 80,000 steps of 19 channels, the first half clean,
30 labelled faults of six kinds in the second. ``generate_coordination`` drives the same car and
plants only exchanges of whole courses between two moments, which leave every channel's own
distribution as it was. Both are functions of ``steps`` and ``seed`` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np
from numpy.typing import NDArray

from axonad.data.faults import ADDITIVE, EDGE, GAP, KINDS, PlantedEvent, Planter, Slot
from axonad.data.vehicle import CHANNELS, SAMPLE_RATE, SENSORS, simulate_drive
from axonad.errors import ConfigError

__all__ = [
    "CHANNELS",
    "KINDS",
    "SAMPLE_RATE",
    "UNITS",
    "PlantedEvent",
    "Telemetry",
    "generate_coordination",
    "generate_telemetry",
]

Array = NDArray[np.float64]

UNITS: dict[str, str] = {sensor.name: sensor.unit for sensor in SENSORS}
MIN_STEPS = 2_000
ANOMALY_RATE = 0.089  # of the test half
STEPS_PER_EVENT = 80_000 / 30
FIRST_EVENT = (43_410, 80_000)  # first anomalous step, as a fraction of all steps
MAX_LENGTH = 292
WIDTHS = (2, 1, 2, 3, 1, 2, 4, 2, 1, 3)  # channels struck by an event, in turn
SPIKE_LENGTHS = (1, 2, 3, 5, 8)
LENGTH_QUANTILES = (46, 64, 82, 98, 112, 128, 150, 180, 215, 255, 292)  # all other kinds


@dataclass(frozen=True)
class Telemetry:
    """A generated stream: values, labels and what was planted where.

    Attributes
    ----------
    values
        ``(steps, 19)`` readings in the units of ``UNITS``.
    labels
        ``(steps,)``, 1 inside a planted event.
    channels
        Names of the columns.
    events
        The planted events in order of time.
    train_end
        First step of the test half; everything before it is clean.
    seed
        The seed it was generated from.
    sample_rate
        Samples per second.
    """

    values: Array
    labels: NDArray[np.int8]
    channels: tuple[str, ...]
    events: tuple[PlantedEvent, ...]
    train_end: int
    seed: int
    sample_rate: float = SAMPLE_RATE

    @property
    def train(self) -> Array:
        """The clean first half."""
        return self.values[: self.train_end]

    @property
    def test(self) -> Array:
        """The second half, which holds the events."""
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
        Length of the stream, at least 2,000; the number of events grows with it (30 for 80,000).
    seed
        Seed of the road, the driver, the sensors and the faults.

    Returns
    -------
    Telemetry
        The stream, its labels and its events.

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
        planter.strike(kind, width, slot)
    return _package(planter, seed)


def generate_coordination(*, steps: int = 80_000, seed: int = 2024) -> Telemetry:
    """Return the same drive with nothing but breaks that no single channel shows.

    Every break is one half of an exchange: two moments of the test half trade the courses of one
    to four channels of a module. Both are labelled. Each channel still takes the values it took,
    with the dynamics it had, only not when the rest of the car calls for them.

    Parameters
    ----------
    steps
        Length of the stream, at least 2,000; the number of events grows with it (30 for 80,000).
    seed
        Seed of the road, the driver, the sensors and the exchanges.

    Returns
    -------
    Telemetry
        The stream, its labels and its events, all of kind ``correlation_break``.
    """
    planter = _drive_clean(steps, seed)
    pairs = max(1, round(steps / STEPS_PER_EVENT / 2))
    lengths = _lengths(pairs, ANOMALY_RATE * (steps - steps // 2) / 2, planter.rng)
    free = np.zeros(steps, dtype=bool)
    free[_first(steps) : steps - EDGE] = True
    # the longest first: they are the hardest to find a partner for
    for length, width in zip(
        sorted(lengths, reverse=True), _widths(pairs, planter.rng), strict=True
    ):
        planter.exchange(length, width, free)
    return _package(planter, seed)


def _check(steps: int, seed: int) -> None:
    for name, value, least in (("steps", steps, MIN_STEPS), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ConfigError(f"{name} must be a whole number of at least {least}, got {value!r}")


def _first(steps: int) -> int:
    return steps * FIRST_EVENT[0] // FIRST_EVENT[1]


def _drive_clean(steps: int, seed: int) -> Planter:
    """Return the clean drive of ``seed``, ready for faults."""
    _check(steps, seed)
    drive_rng, fault_rng = np.random.default_rng(seed).spawn(2)
    spare = max(steps // 4, 8_000)  # driving that never appears: a source of other courses
    driven = simulate_drive(steps + spare, drive_rng)
    return Planter(driven[:steps], driven[steps:], steps // 2, fault_rng)


def _package(planter: Planter, seed: int) -> Telemetry:
    events = tuple(sorted(planter.events, key=lambda event: event.start))
    labels = np.zeros(len(planter.values), dtype=np.int8)
    for event in events:
        labels[event.start : event.end] = 1
    return Telemetry(planter.values, labels, CHANNELS, events, len(labels) // 2, int(seed))


# ── what is planted where ─────────────────────────────────────────────────────────────────────────
def _lengths(count: int, total: float, rng: np.random.Generator) -> list[int]:
    """Return ``count`` event lengths in random order that sum to about ``total``."""
    where = (np.arange(count) + rng.uniform(0.3, 0.7, size=count)) / count
    drawn = np.interp(where, np.linspace(0, 1, len(LENGTH_QUANTILES)), LENGTH_QUANTILES)
    drawn = np.clip(np.round(drawn * total / drawn.sum()), 20, MAX_LENGTH)
    return [int(length) for length in rng.permutation(drawn)]


def _widths(count: int, rng: np.random.Generator) -> list[int]:
    """Return how many channels each event strikes, in random order."""
    return [int(width) for width in rng.permutation(list(islice(cycle(WIDTHS), count)))]


def _plan(steps: int, rng: np.random.Generator) -> tuple[list[str], list[int]]:
    """Return the kind and the length of every event, in the order of time."""
    count = max(1, round(steps / STEPS_PER_EVENT))
    kinds = [str(kind) for kind in rng.permutation(list(islice(cycle(KINDS), count)))]
    sure = next(i for i, kind in enumerate(kinds) if kind in ADDITIVE)
    kinds[0], kinds[sure] = kinds[sure], kinds[0]  # the first event cannot choose its moment
    spikes = kinds.count("spike")
    short = [int(n) for n in islice(cycle(rng.permutation(SPIKE_LENGTHS)), spikes)]
    total = ANOMALY_RATE * (steps - steps // 2) - sum(short)
    long = _lengths(count - spikes, total, rng)
    return kinds, [short.pop() if kind == "spike" else long.pop() for kind in kinds]


def _slots(steps: int, lengths: list[int]) -> list[Slot]:
    """Return for every event the range of starts that keeps events apart; the first is fixed."""
    first = _first(steps)
    begin = first + lengths[0] + GAP
    spare = steps - EDGE - begin - sum(lengths[1:]) - GAP * (len(lengths) - 1)
    slots, share = [Slot(first, first, lengths[0])], spare // max(1, len(lengths) - 1)
    for length in lengths[1:]:
        slots.append(Slot(begin, begin + share, length))
        begin += share + length + GAP
    return slots
