"""One part of the shape memory: a window length and a weighting, with its held-out units.

The training series is cut into five stretches, where there are at least three recordings into whole
ones. The windows of one are compared with those of the others that lie at least a window away,
along directions that were learned from the others too, so that these held-out distances are what
distances of new, normal data will be.

In a long series only ``COMPARED`` windows, evenly spaced, are compared; the units come from these.
A window between two of them gets the distance interpolated between theirs: windows that begin a few
rows apart are nearly the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from axonad.data.recordings import Recordings
from axonad.score.level import HIGH, Level
from axonad.views.shape_lookup import Lookup
from axonad.views.shape_search import Indices, Values, half_squares, nearest
from axonad.views.shape_space import ShapeSpace, centred_windows, describe, spaced

COMPARED = 100_000  # most windows of a series whose held-out distance is computed
FOLDS = 5  # stretches of the training series, each compared with the others
SAMPLE = 256  # training windows from which directions are learned
FLOOR = 1e-3  # smallest unit of a part, as a share of the root mean square length of a window
TINY = 1e-6  # added to a unit: in training all windows may be flat


@dataclass(frozen=True)
class ShapePart:
    """What is remembered of windows of one length under one weighting."""

    space: ShapeSpace
    memory: Values
    """Points of the kept training windows."""
    median: float
    unit: float

    @property
    def length(self) -> int:
        """Steps of a window."""
        return len(self.space.weights)

    @cached_property
    def half_squares(self) -> Values:
        """Half the squared length of each remembered point."""
        return half_squares(self.memory)

    @cached_property
    def lookup(self) -> Lookup:
        """What finds the nearest remembered point of one point."""
        return Lookup(self.memory)

    def search(self, points: Values, *, device: str = "cpu") -> tuple[Values, Indices]:
        """Return the distance of each point to the nearest remembered one, and its index."""
        return nearest(points, self.memory, self.half_squares, device=device)

    def score(self, distances: Values) -> Values:
        """Return distances in units of held-out training distances, compressed."""
        return Level(self.median, self.unit).apply(distances)


def learn_parts(
    Z: NDArray[np.floating],
    weightings: Sequence[Values],
    recordings: Recordings,
    *,
    directions: int,
    most: int,
    device: str = "cpu",
) -> Iterator[tuple[ShapePart, Values]]:
    """Yield for each weighting what is remembered, and the held-out distance of each window."""
    length = len(weightings[0])
    rows = recordings.starts(length)
    count = len(rows)
    kept, sampled = rows[spaced(count, most)], rows[spaced(count, SAMPLE)]
    compared = rows[spaced(count, COMPARED)]
    if len(compared) < count and not recordings.is_one:  # nothing is interpolated across a seam
        edges = np.cumsum([0, *recordings.counts(length)])
        compared = np.union1d(compared, rows[np.concatenate([edges[:-1], edges[1:] - 1])])
    sample = centred_windows(Z, length, sampled)
    folds = [  # first and last rows at which a window begins
        (rows[start], rows[stop - 1] + 1) if stop > start else (rows[0], rows[0])
        for start, stop in recordings.folds(length, FOLDS)
    ]
    owns = [compared[(compared >= start) & (compared < stop)] for start, stop in folds]
    others = [kept[_apart(kept, *fold, gap=length)] for fold in folds]
    wanted = [np.union1d(own, far) for own, far in zip(owns, others, strict=True)]
    samples = [sample, *(sample[_apart(sampled, *fold, gap=length)] for fold in folds)]
    spaces = [
        ShapeSpace.learn(some, weights, directions) for weights in weightings for some in samples
    ]
    found = describe(Z, length, spaces, [kept, *wanted] * len(weightings))
    for i in range(0, len(spaces), len(folds) + 1):
        memory, parts = single(found[i]), []
        for j in range(len(folds)):
            own, far = (np.searchsorted(wanted[j], part) for part in (owns[j], others[j]))
            points = found[i + 1 + j]
            memory_apart = single(points[far])
            halves = half_squares(memory_apart)
            parts.append(nearest(points[own], memory_apart, halves, device=device)[0])
        distances = np.concatenate(parts)
        median, high = np.quantile(distances, [0.5, HIGH])
        size = np.sqrt(np.square(memory).sum(axis=1).mean())
        unit = max(high - median, FLOOR * size) + TINY
        if len(compared) < count:
            distances = np.interp(rows, compared, distances)
        yield ShapePart(spaces[i], memory, float(median), float(unit)), distances


def single(points: Values) -> Values:
    """Return points rounded to single precision, in which they are saved."""
    return points.astype(np.float32).astype(np.float64)


def _apart(numbers: Indices, start: int, stop: int, *, gap: int) -> NDArray[np.bool_]:
    """Return which windows may be compared with those from ``start`` to ``stop``."""
    apart = (numbers <= start - gap) | (numbers >= stop + gap)
    if not apart.any():  # a short series: at least not the same windows
        apart = (numbers < start) | (numbers >= stop)
    return apart if apart.any() else np.ones(len(numbers), dtype=bool)
