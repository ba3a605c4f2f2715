"""What some rows of a stream gave: scores, their parts, rows refused, changes of events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from axonad.alarms.event import Change

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Refused:
    """A row without a score because of what it held, and why."""

    row: int
    reason: str


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """What 1 to n rows of one stream gave.

    ``first`` is the number of the first row, counted from the first one of the stream. ``scores``
    has one value per row, NaN where no window is full; ``parts`` what they are composed of, by
    name; it is empty if no row has a score. ``changes`` are those of events, in order of rows,
    within a row of drift, score and bad data. ``held`` names, by row, the channels whose missing
    value was replaced by the last one.
    """

    first: int
    scores: Array
    parts: Mapping[str, Array] = field(default_factory=dict)
    refused: tuple[Refused, ...] = ()
    changes: tuple[Change, ...] = ()
    held: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
