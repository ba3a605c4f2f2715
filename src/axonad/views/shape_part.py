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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from axonad.data.recordings import Recordings
from axonad.score.level import HIGH, Level
from axonad.views.shape_search import Cells, Indices, Values
from axonad.views.shape_space import ShapeSpace, blocks_of, describe, learn_spaces, spaced

COMPARED = 100_000  # most windows of a series whose held-out distance is computed
FOLDS = 5  # stretches of the training series, each compared with the others
SAMPLE = 256  # training windows from which directions are learned
FLOOR = 1e-3  # smallest unit of a part, as a share of the root mean square length of a window
TINY = 1e-6  # added to a unit: in training all windows may be flat


@dataclass(frozen=True)
class ShapePart:
    """What is remembered of windows of one length under one weighting."""

    space: ShapeSpace
    memory: Cells
    """Points of the kept training windows."""
    median: float
    unit: float

    @property
    def length(self) -> int:
        """Steps of a window."""
        return len(self.space.weights)

    def score(self, distances: Values) -> Values:
        """Return distances in units of held-out training distances, compressed."""
        return Level(self.median, self.unit).apply(distances)


class LearnedPart(NamedTuple):
    """A part, and what held-out windows say of it."""

    part: ShapePart
    distances: Values
    """The held-out distance of each training window."""
    before_last: ShapePart | None
    """The part without the last fold; None if no training window is a window away from it."""
    last_start: int
    """The first row of the last fold."""


def learn_parts(
    Z: NDArray[np.floating],
    weightings: Sequence[Values],
    recordings: Recordings,
    *,
    directions: int,
    most: int,
    device: str = "cpu",
) -> list[LearnedPart]:
    """Return what is remembered of windows of one length under each weighting."""
    length = len(weightings[0])
    plan = _Plan.make(recordings, length, most)
    spaces, memories = [], []
    for weights in weightings:
        sample = _sample(Z, plan.sampled, weights)
        spaces.append(learn_spaces(sample, weights, plan.sampled_far, directions))
        del sample  # it can be large
        points = describe(Z, length, spaces[-1], [plan.kept, *plan.kept_far])
        memories.append([each.astype(np.float32) for each in points])  # as they are saved
    found: list[list[Values]] = [[] for _ in weightings]
    for j, (start, stop) in enumerate(plan.folds, start=1):
        own = plan.compared[(plan.compared >= start) & (plan.compared < stop)] - start
        if len(own):
            part = Z[start : stop + length - 1]
            points = describe(part, length, [each[j] for each in spaces], [own] * len(spaces))
            for i, memory in enumerate(memories):
                found[i].append(Cells.divide(memory[j]).nearest(points[i], device=device)[0])
    return [
        _judge(space, memory, np.concatenate(distances), plan)
        for space, memory, distances in zip(spaces, memories, found, strict=True)
    ]


def _judge(
    spaces: Sequence[ShapeSpace],
    memories: Sequence[NDArray[np.float32]],
    distances: Values,
    plan: _Plan,
) -> LearnedPart:
    """Return the part that remembers all kept windows, with its unit by held-out distances."""
    median, high = np.quantile(distances, [0.5, HIGH])
    size = np.sqrt(np.square(memories[0], dtype=np.float64).sum(axis=1).mean())
    level = float(median), float(max(high - median, FLOOR * size) + TINY)
    part, last = ShapePart(spaces[0], Cells.divide(memories[0]), *level), None
    if plan.is_last_apart:
        last = ShapePart(spaces[-1], Cells.divide(memories[-1]), *level)
    if len(plan.compared) < len(plan.rows):
        distances = np.interp(plan.rows, plan.compared, distances)
    return LearnedPart(part, distances, last, plan.folds[-1][0])


class _Plan(NamedTuple):
    """Which windows are kept, compared and sampled, by the rows at which they begin."""

    rows: Indices  # of all windows
    kept: Indices
    compared: Indices
    sampled: Indices
    folds: list[tuple[int, int]]  # rows of the first window and after the last one
    kept_far: list[Indices]  # those that windows of a fold are compared with
    sampled_far: list[NDArray[np.bool_]]  # which of the sampled are; before, all of them
    is_last_apart: bool  # whether the last fold is a window away from the windows before it

    @classmethod
    def make(cls, recordings: Recordings, length: int, most: int) -> Self:
        rows = recordings.starts(length)
        count = len(rows)
        kept, sampled = rows[spaced(count, most)], rows[spaced(count, SAMPLE)]
        compared = rows[spaced(count, COMPARED)]
        if len(compared) < count and not recordings.is_one:  # no interpolation across a seam
            edges = np.cumsum([0, *recordings.counts(length)])
            compared = np.union1d(compared, rows[np.concatenate([edges[:-1], edges[1:] - 1])])
        folds = [
            (int(rows[start]), int(rows[stop - 1]) + 1) if stop > start else (0, 0)
            for start, stop in recordings.folds(length, FOLDS)
        ]
        kept_far = [kept[_apart(kept, *fold, gap=length)] for fold in folds]
        sampled_far = [_apart(sampled, *fold, gap=length) for fold in folds]
        return cls(
            rows, kept, compared, sampled, folds, kept_far,
            [np.ones(len(sampled), dtype=bool), *sampled_far],
            bool((kept_far[-1] <= folds[-1][0] - length).all()),
        )  # fmt: skip


def _sample(Z: NDArray[np.floating], numbers: Indices, weights: Values) -> Values:
    """Return windows centred, weighted and flattened row by row."""
    sample = np.empty((len(numbers), len(weights) * Z.shape[1]))
    done = 0
    for some, windows in blocks_of(Z, len(weights), numbers):
        weighted = sample[done : done + len(some)].reshape(windows.shape)
        np.multiply(windows, weights[:, None], out=weighted)
        done += len(some)
    return sample


def _apart(numbers: Indices, start: int, stop: int, *, gap: int) -> NDArray[np.bool_]:
    """Return which windows may be compared with those from ``start`` to ``stop``."""
    apart = (numbers <= start - gap) | (numbers >= stop + gap)
    if not apart.any():  # a short series: at least not the same windows
        apart = (numbers < start) | (numbers >= stop)
    return apart if apart.any() else np.ones(len(numbers), dtype=bool)
