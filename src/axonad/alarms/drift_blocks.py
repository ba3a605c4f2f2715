"""Rows summed up in blocks: mean and variance of each channel, and the level of the score.

Neighbouring rows are alike, so rows cannot be compared with rows; blocks long enough can. Sums are
added up row by row in order, so that a block has the same bits however its rows came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.modelfile import check_counts, check_rows

FAR = 1e6  # units beyond which a value is cut off, so that no sum overflows
KNOTS = 65  # quantiles of the normal scores
LEVEL, SPREAD = "level", "spread"
STATISTICS = (LEVEL, SPREAD)

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Units:
    """Units of normal data: ``center`` and ``scale`` per channel, and quantiles of its scores.

    ``knots`` is empty if the scores are not judged.
    """

    center: Array
    scale: Array
    knots: Array

    @classmethod
    def learn(cls, values: Array, scores: Array) -> Self:
        """Return the units of normal rows; a channel that does not move has the scale 0."""
        known = np.isfinite(values)
        count = np.maximum(known.sum(axis=0), 1)
        center = np.where(known, values, 0.0).sum(axis=0) / count
        square = np.where(known, np.clip(values - center, -1e150, 1e150) ** 2, 0.0).sum(axis=0)
        low = np.where(known, values, np.inf).min(axis=0)
        moves = np.where(known, values, -np.inf).max(axis=0) > low
        scores = scores[np.isfinite(scores)]
        knots = np.quantile(scores, np.linspace(0, 1, KNOTS)) if len(scores) else np.empty(0)
        return cls(center, np.where(moves, np.sqrt(square / count), 0.0), knots)

    def convert(self, values: Array, scores: Array) -> Array:
        """Return rows in units of normal data (rows, channels + 1), NaN for what is missing.

        The last column is the share of normal scores below each score.
        """
        found = np.empty((len(values), len(self.center) + 1))
        unit = np.where(self.scale > 0, self.scale, np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            plain = np.clip((values - self.center) / unit, -FAR, FAR)
        found[:, :-1] = np.where(np.isfinite(values), plain, np.nan)
        found[:, -1] = np.nan
        if len(self.knots):
            found[:, -1] = np.interp(scores, self.knots, np.linspace(0, 1, len(self.knots)))
        return found


@dataclass
class Sums:
    """Sums of the rows of a block that is not complete, per column of :meth:`Units.convert`."""

    columns: int
    rows: int = 0
    first: int = 0
    """Number of its first row."""
    begins: Any = None
    """Time of its first row."""
    sums: Array = field(default_factory=lambda: np.empty((3, 0)))
    """Number of values, their sum, and the sum of their squares."""

    def __post_init__(self) -> None:
        if self.sums.size == 0:
            self.sums = np.zeros((3, self.columns))

    def add(self, units: Array, *, row: int, time: Any) -> None:
        """Add rows in units, of which the first is row number ``row`` with a time."""
        if self.rows == 0:
            self.first, self.begins = row, time
        known = ~np.isnan(units)
        plain = np.where(known, units, 0.0)
        for place, part in enumerate((known, plain, plain * plain)):
            course = np.concatenate([self.sums[place][None], part])
            self.sums[place] = np.add.accumulate(course, axis=0)[-1]
        self.rows += len(units)

    def join(self, other: Sums) -> None:
        """Add a complete block that follows."""
        if self.rows == 0:
            self.first, self.begins = other.first, other.begins
        self.sums = self.sums + other.sums
        self.rows += other.rows

    def clear(self) -> None:
        """Forget the rows."""
        self.rows, self.sums = 0, np.zeros((3, self.columns))

    def summary(self) -> Array:
        """Return mean and variance (2, columns); NaN where more than half the values are missing.

        The order is that of ``STATISTICS``.
        """
        count, total, squares = self.sums
        enough = 2 * count >= max(self.rows, 1)
        shared = np.where(enough, count, 1.0)
        mean = total / shared
        spread = np.maximum(squares / shared - mean * mean, 0.0)
        return np.where(enough, np.stack([mean, spread]), np.nan)

    def state(self) -> dict[str, Any]:
        """Return what :meth:`restored` needs, as JSON values."""
        sums = self.sums.tolist()
        return {"rows": self.rows, "first": self.first, "begins": self.begins, "sums": sums}

    @classmethod
    def restored(cls, state: Mapping[str, Any], *, columns: int, most: int) -> Self:
        """Return saved sums of fewer than ``most`` rows; raise an error if they make no sense."""
        rows, first = check_counts("rows and first", [state["rows"], state["first"]])
        sums = check_rows("sums", state["sums"], columns=columns)
        if sums.shape != (3, columns) or rows >= most or (sums[0] > rows).any():
            raise ValueError(f"its block of {rows} rows does not fit {columns - 1} channels")
        return cls(columns, rows, first, state["begins"], sums)


def base_blocks(units: Array, *, rows: int) -> list[Sums]:
    """Return the complete blocks of so many rows of one stretch without gaps."""
    found = []
    for start in range(0, len(units) - rows + 1, rows):
        block = Sums(units.shape[1])
        block.add(units[start : start + rows], row=start, time=None)
        found.append(block)
    return found


def joined_summaries(blocks: list[Sums], *, size: int) -> Array:
    """Return the summaries (blocks, 2, columns) of every ``size`` successive blocks as one."""
    found = []
    for start in range(0, len(blocks) - size + 1, size):
        whole = Sums(blocks[0].columns)
        for block in blocks[start : start + size]:
            whole.join(block)
        found.append(whole.summary())
    columns = blocks[0].columns if blocks else 0
    return np.array(found) if found else np.empty((0, len(STATISTICS), columns))
