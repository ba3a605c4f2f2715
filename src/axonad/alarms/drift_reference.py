"""What drift is judged against: blocks of normal data, learned once and never changed.

A statistic is the level (mean) or the spread (variance) of a channel in a block, its relation (how
far its mean is above what the other channels suggest), or the level of the score. Relations are
learned from the first half of each recording and judged against the second.

Blocks of normal data must not resemble their neighbours, or neighbouring blocks of a new stream
would count as more evidence than they are. So each statistic has its own length of block: the
shortest of a window, two, four, ... whose ranks have a correlation of at most ``RELATED`` from
block to block, over a few blocks if there are many. A statistic without ``FEWEST`` such blocks is
not judged: the normal data is too short for it, or it differs more between recordings than within
them.

Not judged either: channels that only set the scene, whose news are told elsewhere
(:class:`axonad.data.context.NewContext`), and channels that do not move in normal data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from axonad.alarms.drift_blocks import (
    FAR,
    LEVEL,
    RELATION,
    STATISTICS,
    Array,
    Units,
    base_blocks,
    joined_summaries,
    read_statistic,
)
from axonad.alarms.drift_evidence import fewest_blocks
from axonad.config import check_choice, check_float, check_int
from axonad.data.frames import Matrix, Names
from axonad.modelfile import check_counts

ALPHA = 0.01
RELATED = 0.1  # rank correlation of neighbouring blocks
LAGS, MANY = 4, 50  # lags that are added up, and blocks for each of them
FEWEST, MOST = 12, 100  # blocks of normal data
ALL = 200_000  # values of all statistics together
SHORTEST = 50  # rows of a block
DOUBLINGS = 12
NAMED = 4  # channels that are not judged

Stretch = tuple[Matrix, Array]
"""Values (rows, channels), NaN where missing, and scores of rows without a gap between them."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """One number per block: ``what`` of a column; the column after the channels is the score.

    A block has ``size`` base blocks. ``normal`` are its values in normal data, sorted.
    """

    column: int
    what: str
    size: int
    normal: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class DriftReference:
    """Normal data as drift is judged against it, with the false-alarm bound ``alpha``.

    ``base`` is the number of rows of a base block, ``judgeable`` are the columns of channels that
    could be judged if there were enough normal data: without context and those that never move.
    """

    units: Units
    base: int
    statistics: tuple[Statistic, ...]
    judgeable: tuple[int, ...]
    alpha: float = ALPHA

    @classmethod
    def learn(
        cls,
        stretches: Sequence[Stretch],
        *,
        history: int,
        context: tuple[int, ...] = (),
        alpha: float = ALPHA,
    ) -> Self:
        """Return the reference of normal data, of scores that depend on ``history`` rows.

        Without statistics, if the data is too short to judge any.
        """
        check_float("alpha", alpha, above=0, below=1)
        values = np.concatenate([part[0] for part in stretches]).astype(np.float64)
        units = Units.learn(values, np.concatenate([part[1] for part in stretches]))
        base = max(history, SHORTEST)
        moves = units.scale > 0
        moves[list(context)] = False
        moving = np.flatnonzero(moves).tolist()
        first = [part[: len(part) // 2].astype(np.float64) for part, _ in stretches]
        units = units.relate(first, moving)
        blocks = [
            base_blocks(units.convert(rows.astype(np.float64), scores), rows=base)
            for rows, scores in stretches
        ]
        kinds = STATISTICS if len(units.weights) else STATISTICS[:2]
        wanted = [(column, what) for what in kinds for column in moving]
        if len(units.knots) and np.ptp(units.knots) > 0:
            wanted.append((len(moves), LEVEL))
        most = min(MOST, ALL // max(1, len(wanted)))
        found: dict[tuple[int, str], Statistic] = {}
        for size in (2**k for k in range(DOUBLINGS)):
            parts = [joined_summaries(block, size=size) for block in blocks if len(block) >= size]
            if sum(map(len, parts)) < FEWEST:
                break
            for column, what in (key for key in wanted if key not in found):
                courses = [read_statistic(part, what=what, column=column) for part in parts]
                if what == RELATION:
                    courses = [course[(len(course) + 1) // 2 :] for course in courses]
                normal = _choose(courses, most=most, is_steady=what == RELATION)
                if normal is not None:
                    found[column, what] = Statistic(column, what, size, normal)
        chosen = tuple(found[key] for key in sorted(found))
        return cls(units, base, chosen, tuple(moving), alpha)

    @property
    def channels(self) -> int:
        """Number of channels of the data."""
        return len(self.units.center)

    @cached_property
    def judged(self) -> tuple[int, ...]:
        """Columns of the channels of which at least one statistic is judged."""
        return tuple(sorted({one.column for one in self.statistics} - {self.channels}))

    @property
    def limit(self) -> float:
        """Evidence of one statistic at which the data has drifted.

        With a share of ``alpha`` for each statistic, the chance that any of them ever reaches it on
        normal data is at most ``alpha``, whatever they have to do with each other.
        """
        return len(self.statistics) / self.alpha

    def sides(self, one: Statistic) -> int:
        """Return on how many sides a statistic is judged: low scores are no drift."""
        return 1 if one.column == self.channels else 2

    def notes(self, names: Names = None) -> list[str]:
        """Return what can be judged and what cannot, one sentence each."""
        if not self.statistics:
            return [
                "the normal data is too short to judge drift: no channel has "
                f"{FEWEST} blocks that do not resemble their neighbours; give more recordings"
            ]
        rows = [one.size * self.base for one in self.statistics]
        levels = {one.column for one in self.statistics if one.what == LEVEL}
        found = [
            f"drift: the level of {len(levels - {self.channels})} of {len(self.judgeable)} channels"
            f" is judged, in blocks of {_span(rows)} rows; a complete change takes {self._delays()}"
            f" rows to be sure of, and at most 1 of {1 / self.alpha:.0f} normal streams is ever "
            "said to drift, if its blocks are exchangeable with these"
        ]
        left = [
            str(column) if names is None else names[column]
            for column in self.judgeable
            if column not in levels
        ]
        if left:
            found.append(
                f"drift: not judged is the level of {', '.join(left[:NAMED])}"
                f"{f' and {len(left) - NAMED} more' if len(left) > NAMED else ''}, which changes "
                "too slowly for the normal data; give more recordings"
            )
        return found

    def _delays(self) -> str:
        """Return the least rows, over statistics, until a complete change has reached the limit."""
        rows = [
            one.size * self.base
            * fewest_blocks(len(one.normal), sides=self.sides(one), limit=self.limit)
            for one in self.statistics
        ]  # fmt: skip
        return _span(rows)

    def to_json(self) -> dict[str, Any]:
        """Return the reference as JSON values."""
        units = {name: getattr(self.units, name).tolist() for name in ("center", "scale", "knots")}
        listed = [
            {"column": one.column, "what": one.what, "size": one.size, "normal": list(one.normal)}
            for one in self.statistics
        ]
        return {
            "alpha": self.alpha, "base": self.base, "judgeable": list(self.judgeable), **units,
            "weights": self.units.weights.tolist(), "bounds": self.units.bounds.tolist(),
            "statistics": listed,
        }  # fmt: skip

    @classmethod
    def from_json(cls, document: Mapping[str, Any], *, channels: int) -> Self:
        """Return a saved reference; raise KeyError, TypeError or ValueError if it is nonsense."""
        check_float("alpha", document["alpha"], above=0, below=1)
        check_int("base", document["base"], low=1)
        judgeable = tuple(check_counts("judgeable", document["judgeable"]))
        center, scale, knots = (
            np.array(_numbers(name, document[name])) for name in ("center", "scale", "knots")
        )
        given = [_numbers("weights", row) for row in document["weights"]]
        weights = np.array(given) if given else np.empty((0, 0))
        if weights.shape not in ((0, 0), (channels, channels)):
            raise ValueError(f"the relations of drift do not fit {channels} channels")
        wide = [FAR] * len(weights)  # as before there were any
        bounds = np.array(_numbers("bounds", document.get("bounds", wide)))
        if len(bounds) != len(weights) or (bounds <= 0).any():
            raise ValueError(f"the bounds of the relations of drift do not fit {channels} channels")
        units = Units(center, scale, knots, weights, bounds)
        if not len(units.center) == len(units.scale) == channels or (units.scale < 0).any():
            raise ValueError(f"the reference of drift does not fit {channels} channels")
        found = []
        for entry in document["statistics"]:
            normal = _numbers("normal", entry["normal"])
            check_int("column", entry["column"], low=0, high=channels)
            check_int("size", entry["size"], low=1)
            check_choice("what", entry["what"], STATISTICS if given else STATISTICS[:2])
            if not normal or normal != sorted(normal):
                raise ValueError("the normal blocks of the reference of drift are not in order")
            found.append(Statistic(entry["column"], entry["what"], entry["size"], tuple(normal)))
        if any(column >= channels for column in judgeable):
            raise ValueError(f"the reference of drift does not fit {channels} channels")
        return cls(units, document["base"], tuple(found), judgeable, document["alpha"])

    @cached_property
    def key(self) -> str:
        """A hash that tells references apart."""
        return hashlib.sha256(json.dumps(self.to_json()).encode()).hexdigest()[:16]


def _choose(courses: list[Array], *, most: int, is_steady: bool) -> tuple[float, ...] | None:
    """Return the sorted values of normal blocks; None if they are too few or too much related.

    Values that are all the same are only judged if they may be steady, as relations are that never
    leave what does not count.
    """
    courses = [course[np.isfinite(course)] for course in courses]
    values = np.concatenate(courses)
    if len(values) < FEWEST or most < FEWEST:
        return None
    if np.ptp(values) == 0:
        if not is_steady:
            return None
    elif _relation(courses, values) > RELATED:
        return None
    if len(values) > most:
        values = values[np.linspace(0, len(values) - 1, most).astype(int)]
    return tuple(np.sort(values).tolist())


def _relation(courses: list[Array], values: Array) -> float:
    """Return the rank correlation of neighbouring blocks within recordings.

    With many blocks, those of up to ``LAGS`` lags are added up: a stretch of like blocks counts.
    """
    order, ranks = np.unique(values, return_inverse=True)
    counts = np.bincount(ranks)
    middle = np.cumsum(counts) - (counts - 1) / 2  # ties share their mean rank
    centred = middle[ranks] - middle[ranks].mean()
    parts = np.split(centred, np.cumsum([len(course) for course in courses])[:-1])
    total = 0.0
    for lag in range(1, max(1, min(LAGS, len(values) // MANY)) + 1):
        pairs = sum(max(0, len(part) - lag) for part in parts)
        if pairs == 0 or len(order) < 2:
            return 1.0
        total += sum(float((part[:-lag] * part[lag:]).sum()) for part in parts) / pairs
    return total / float((centred * centred).mean())


def _numbers(name: str, values: Any) -> list[float]:
    if not isinstance(values, list) or any(type(v) not in (int, float) for v in values):
        raise TypeError(f"{name} of the reference of drift is {values!r:.40}; expected numbers")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} of the reference of drift must hold finite numbers")
    return [float(value) for value in values]


def _span(rows: list[int]) -> str:
    low, high = min(rows), max(rows)
    return f"{low}" if low == high else f"{low} to {high}"
