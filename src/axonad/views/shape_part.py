"""One part of the shape memory: a window length and a weighting, with its held-out units.

The training series is cut into five stretches. The windows of one are compared with those of the
others that lie at least a window away, along directions that were learned from the others too, so
that these held-out distances are what distances of new, normal data will be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from axonad.data.windows import count_windows
from axonad.views.shape_space import (
    Indices,
    ShapeSpace,
    Values,
    centred_windows,
    describe,
    half_squares,
    nearest,
    spaced,
)

FOLDS = 5  # stretches of the training series, each compared with the others
SAMPLE = 256  # training windows from which directions are learned
HIGH = 0.99  # quantile of held-out distances that is one unit above their median
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

    def search(self, points: Values) -> tuple[Values, Indices]:
        """Return the distance of each point to the nearest remembered one, and its index."""
        return nearest(points, self.memory, self.half_squares)

    def score(self, distances: Values) -> Values:
        """Return distances in units of held-out training distances, compressed."""
        return np.log1p(np.maximum((distances - self.median) / self.unit, 0))


def learn_parts(
    Z: NDArray[np.floating], weightings: Sequence[Values], *, directions: int, most: int
) -> Iterator[tuple[ShapePart, Values]]:
    """Yield for each weighting what is remembered, and the held-out distance of each window."""
    length = len(weightings[0])
    count = count_windows(len(Z), length)
    kept, sampled = spaced(count, most), spaced(count, SAMPLE)
    sample = centred_windows(Z, length, sampled)
    folds = list(pairwise(np.linspace(0, count, FOLDS + 1).astype(int)))
    others = [kept[_apart(kept, *fold, gap=length)] for fold in folds]
    wanted = [np.union1d(np.arange(*fold), far) for fold, far in zip(folds, others, strict=True)]
    samples = [sample, *(sample[_apart(sampled, *fold, gap=length)] for fold in folds)]
    spaces = [
        ShapeSpace.learn(some, weights, directions) for weights in weightings for some in samples
    ]
    found = describe(Z, length, spaces, [kept, *wanted] * len(weightings))
    for i in range(0, len(spaces), FOLDS + 1):
        memory, distances = single(found[i]), np.empty(count)
        for j, (start, stop) in enumerate(folds):
            own, far = (
                np.searchsorted(wanted[j], part) for part in (np.arange(start, stop), others[j])
            )
            points = found[i + 1 + j]
            memory_apart = single(points[far])
            found_apart = nearest(points[own], memory_apart, half_squares(memory_apart))
            distances[start:stop] = found_apart[0]
        median, high = np.quantile(distances, [0.5, HIGH])
        size = np.sqrt(np.square(memory).sum(axis=1).mean())
        unit = max(high - median, FLOOR * size) + TINY
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
