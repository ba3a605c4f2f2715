"""The kinds of faults that are planted, each as a change to one channel over some rows.

=================  ===============================================================================
``frozen``         the channel keeps the value of the first row
``shifted``        a constant is added
``drifting``       a ramp is added that grows from 0 to the size
``noisy``          normal noise is added to every row
``spiking``        one row in ten, at least one, jumps up or down
``other_course``   the channel shows what it did at another time; its ends are bent to join
``scaled``         the channel moves too much around its median: size 1 doubles its deviations
``reversed``       the channel's own course runs backwards; its ends are bent to join
=================  ===============================================================================

A change is planted as ``old + size * change``. Sizes are in units of the channel. ``frozen``,
``other_course`` and ``reversed`` have no size and are planted once. These three and ``scaled`` are
no fault where they change nothing, so they are planted only where they move the channel by half a
unit or more somewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axonad.data.faults import bend
from axonad.data.frames import Matrix

Values = NDArray[np.float64]

MATERIAL = 0.5  # smallest largest change, in units, of a kind that may change nothing
SPIKES = 0.1  # share of rows that spike


@dataclass(frozen=True)
class Place:
    """Where a fault is to be planted: rows ``[start, end)`` of one channel of a recording.

    At least one more row on both sides belongs to the same stretch ``[low, high)`` without a gap.
    """

    column: Matrix  # the whole channel
    start: int
    end: int
    low: int
    high: int
    unit: float
    centre: float

    @property
    def old(self) -> Values:
        """The rows as they were recorded."""
        return np.asarray(self.column[self.start : self.end], dtype=np.float64)

    def joined(self, course: Values, before: float, after: float) -> Values:
        """Return a course bent to join its new neighbours; it came from between two other rows."""
        first, last = float(self.column[self.start - 1]), float(self.column[self.end])
        return bend(course[:, None], np.array([first - before]), np.array([last - after]))[:, 0]


Maker = Callable[[Place, np.random.Generator], Values | None]


def _frozen(place: Place, rng: np.random.Generator) -> Values | None:
    return np.asarray(place.old[0] - place.old)


def _shifted(place: Place, rng: np.random.Generator) -> Values | None:
    return np.full(place.end - place.start, _sign(rng) * place.unit)


def _drifting(place: Place, rng: np.random.Generator) -> Values | None:
    steps = place.end - place.start
    return np.asarray(np.arange(1, steps + 1) / steps * _sign(rng) * place.unit)


def _noisy(place: Place, rng: np.random.Generator) -> Values | None:
    return rng.normal(size=place.end - place.start) * place.unit


def _spiking(place: Place, rng: np.random.Generator) -> Values | None:
    steps = place.end - place.start
    change = np.zeros(steps)
    rows = rng.choice(steps, size=max(1, round(SPIKES * steps)), replace=False)
    change[rows] = rng.choice((-1.0, 1.0), size=len(rows)) * place.unit
    return change


def _other_course(place: Place, rng: np.random.Generator) -> Values | None:
    steps = place.end - place.start
    earlier = max(0, place.start - steps - place.low)  # places before, and after, the fault
    later = max(0, place.high - steps - place.end)
    if earlier + later == 0:
        return None
    drawn = int(rng.integers(earlier + later))
    begin = place.low + 1 + drawn if drawn < earlier else place.end + drawn - earlier
    course = np.asarray(place.column[begin : begin + steps], dtype=np.float64)
    before, after = float(place.column[begin - 1]), float(place.column[begin + steps])
    return place.joined(course, before, after) - place.old


def _scaled(place: Place, rng: np.random.Generator) -> Values | None:
    return place.old - place.centre


def _reversed(place: Place, rng: np.random.Generator) -> Values | None:
    before, after = float(place.column[place.end]), float(place.column[place.start - 1])
    return place.joined(place.old[::-1], before, after) - place.old


def _sign(rng: np.random.Generator) -> float:
    return float(rng.choice((-1.0, 1.0)))


KINDS: dict[str, Maker] = {
    "frozen": _frozen,
    "shifted": _shifted,
    "drifting": _drifting,
    "noisy": _noisy,
    "spiking": _spiking,
    "other_course": _other_course,
    "scaled": _scaled,
    "reversed": _reversed,
}
SIZELESS = frozenset({"frozen", "other_course", "reversed"})
MAY_CHANGE_NOTHING = SIZELESS | {"scaled"}


def make_change(kind: str, place: Place, rng: np.random.Generator) -> Values | None:
    """Return the change of size 1 at a place; None where this kind would be no fault."""
    change = KINDS[kind](place, rng)
    if change is None or kind not in MAY_CHANGE_NOTHING:
        return change
    return change if np.abs(change).max() >= MATERIAL * place.unit else None
