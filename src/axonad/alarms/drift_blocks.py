"""Rows summed up in blocks: each channel alone and beside the others, and the level of the score.

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
LEVEL, SPREAD, RELATION = "level", "spread", "relation"
STATISTICS = (LEVEL, SPREAD, RELATION)
WIDEST = 100  # channels whose relations are judged
RIDGE = 0.01
DEAD = 0.05  # standard deviations that a relation may be off, as between two cars
CUT = 2.0  # median distances from what the others suggest, at which these are cut off

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Units:
    """Units of normal data: ``center`` and ``scale`` per channel, and quantiles of its scores.

    ``knots`` is empty if the scores are not judged. ``weights`` (channels, channels) predict each
    channel, in units, from the others in the same row; it is empty if relations are not judged.
    ``bounds`` are the distances from what is predicted at which they are cut off, so that the few
    rows in which the relation is not linear do not hide an offset in all others.
    """

    center: Array
    scale: Array
    knots: Array
    weights: Array
    bounds: Array

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
        scale = np.where(moves, np.sqrt(square / count), 0.0)
        return cls(center, scale, knots, np.empty((0, 0)), np.empty(0))

    def relate(self, parts: list[Array], columns: list[int]) -> Units:
        """Return the units with relations between channels, by ridge regression on some rows."""
        if not 2 <= len(columns) <= WIDEST:
            return self
        rows = np.concatenate([self.convert(part, np.full(len(part), np.nan)) for part in parts])
        rows = rows[:, columns]
        rows = rows[np.isfinite(rows).all(axis=1)]
        if len(rows) < len(columns):
            return self
        inverse = np.linalg.inv(rows.T @ rows / len(rows) + RIDGE * np.eye(len(columns)))
        weights = np.zeros((len(self.center), len(self.center)))
        weights[np.ix_(columns, columns)] = -inverse / np.diag(inverse)
        weights[columns, columns] = 0.0
        expected = np.zeros((len(rows), len(self.center)))
        expected[:, columns] = rows @ weights[np.ix_(columns, columns)]
        bounds = np.full(len(self.center), 2 * DEAD)
        far = CUT * np.median(np.abs(rows - expected[:, columns]), axis=0)
        bounds[columns] = np.maximum(far, 2 * DEAD)
        return Units(self.center, self.scale, self.knots, weights, bounds)

    @property
    def columns(self) -> int:
        """Number of columns of :meth:`convert`."""
        return len(self.center) + 1 + 2 * len(self.weights)

    def convert(self, values: Array, scores: Array) -> Array:
        """Return rows in units of normal data, NaN for what is missing.

        The column after the channels is the share of normal scores below each score. Then follows
        how far each channel is above what the others suggest, cut off at bounds and as it is.
        """
        count = len(self.center)
        found = np.full((len(values), self.columns), np.nan)
        unit = np.where(self.scale > 0, self.scale, np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            plain = np.clip((values - self.center) / unit, -FAR, FAR)
        found[:, :count] = np.where(np.isfinite(values), plain, np.nan)
        if len(self.knots):
            found[:, count] = np.interp(scores, self.knots, np.linspace(0, 1, len(self.knots)))
        if len(self.weights):  # summed in order: a product of matrices depends on the rows beside
            terms = found[:, :count, None] * self.weights
            expected = np.add.accumulate(terms, axis=1)[:, -1]
            apart = np.clip(found[:, :count] - expected, -FAR, FAR)
            found[:, count + 1 :] = np.hstack([np.clip(apart, -self.bounds, self.bounds), apart])
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
        """Return mean and variance (2, columns); NaN where most values are missing."""
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


def read_statistic(summaries: Array, *, what: str, column: int) -> Array:
    """Return one statistic of summaries (..., 2, columns), of a channel or the score after them."""
    if what == SPREAD:
        return np.asarray(summaries[..., 1, column])
    if what == LEVEL:
        return np.asarray(summaries[..., 0, column])
    channels = (summaries.shape[-1] - 1) // 3
    found = summaries[..., 0, channels + 1 + column]
    return np.asarray(np.sign(found) * np.maximum(np.abs(found) - DEAD, 0.0))


def read_size(summary: Array, *, what: str, column: int) -> float:
    """Return what tells how large a shift is: of a relation the mean that is not cut off."""
    if what != RELATION:
        return float(read_statistic(summary, what=what, column=column))
    channels = (summary.shape[-1] - 1) // 3
    return float(summary[0, 2 * channels + 1 + column])


def joined_summaries(blocks: list[Sums], *, size: int) -> Array:
    """Return the summaries (blocks, 2, columns) of every ``size`` successive blocks as one."""
    found = []
    for start in range(0, len(blocks) - size + 1, size):
        whole = Sums(blocks[0].columns)
        for block in blocks[start : start + size]:
            whole.join(block)
        found.append(whole.summary())
    columns = blocks[0].columns if blocks else 0
    return np.array(found) if found else np.empty((0, 2, columns))
