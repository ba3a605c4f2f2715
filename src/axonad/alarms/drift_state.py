"""A drift that has not ended, and saved drifts read back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from axonad.alarms.drift_reference import DriftReference


@dataclass
class OpenDrift:
    """A drift that has not ended; ``shifts`` are side and size by number of the statistic."""

    number: int
    start: int
    fired: int
    begins: Any
    shifts: dict[int, tuple[int, float]]

    def to_json(self) -> dict[str, Any]:
        """Return the drift as JSON values."""
        shifts = [[i, side, size] for i, (side, size) in self.shifts.items()]
        return {**asdict(self), "shifts": shifts}


def read_drift(saved: Mapping[str, Any], *, row: int, reference: DriftReference) -> OpenDrift:
    """Return a saved drift that had not ended after so many rows; raise an error if it cannot be.

    The error is a KeyError, TypeError or ValueError.
    """
    shifts = {int(i): (side, size) for i, side, size in saved["shifts"]}
    drift = OpenDrift(**{**saved, "shifts": shifts})
    rows = (drift.number, drift.start, drift.fired)
    if any(type(value) is not int for value in rows) or not 0 <= drift.start <= drift.fired:
        raise ValueError(f"its drift has the rows {rows!r:.60}")
    known = range(len(reference.statistics))
    fits = all(
        i in known and side in range(reference.sides(reference.statistics[i]))
        and type(size) in (int, float) and math.isfinite(size)
        for i, (side, size) in shifts.items()
    )  # fmt: skip
    if drift.fired >= row or not shifts or not fits:
        raise ValueError("its drift does not fit its rows and channels")
    return drift


def read_interval(pair: Any, *, row: int) -> list[int | None]:
    """Return saved rows in which drift held; raise an error if they make no sense."""
    first, after = pair
    if type(first) is not int or not (after is None or type(after) is int):
        raise ValueError(f"its drifts have the rows {pair!r:.60}")
    if not 0 <= first < row or (after is not None and not first < after <= row):
        raise ValueError(f"its drifts have the rows {pair!r:.60}")
    return [first, after]
