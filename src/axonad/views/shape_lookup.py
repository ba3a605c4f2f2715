"""The nearest of many reference points, for one point at a time: exact, without reading them all.

For live rows of models of 0.2.0, whose references are not divided into cells.

One point after another would have to read all references, which takes longer than computing with
them. Training windows that follow one another are alike, so each run of four references b is first
represented by its centre c and its radius r, the largest distance of one of them from c. Let a be
the point, k a reference at a distance d, and b the nearest one, in a run with |b - c| <= r. Then
|a - c| <= d + r by the triangle inequality, and runs whose centre is farther away need not be read.
k is the nearest member of the run with the nearest centre.

Centres are compared in single precision: |a - c|² = |a|² - 2 v(c) with v(c) = a·c - |c|² / 2.
Neither a nor c is longer than s = |a| + d + r, so rounding changes v by at most 1.5 (D + 4) u s²,
where D is the number of coordinates and u = 2^-24: D + 1 products of values rounded twice are
summed, and |a||c| + |c|² / 2 is at most 1.5 s². The limit that v is compared with is a sum of three
terms below s² and is rounded by less than 9 u s². A run is left out only if it is too far by more
than E = 1.5 (D + 10) u s². Distances themselves are computed in double precision.

If too many runs remain, each reference is a run of its own, with r = 0. That leaves more than a few
only where many references are equal.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

RUN = 4  # references that are first compared by their centre
MANY = 0.25  # largest share of runs whose references are read
LARGEST = 1e15  # largest coordinate whose square single precision holds with room to spare
ROUNDING = 1.5 * 2.0**-24  # E of this module, per s² and coordinate


class Lookup:
    """Reference points prepared for the search of single points."""

    def __init__(self, points: Values) -> None:
        self._points = points
        self._largest = float(np.abs(points).max())

    @cached_property
    def _runs(self) -> _Runs:
        return _Runs(self._points, RUN)

    @cached_property
    def _single(self) -> _Runs:
        return _Runs(self._points, 1)

    def distance(self, point: Values) -> float:
        """Return the distance of a point (coordinates,) to the nearest reference."""
        found = None
        if max(float(np.abs(point).max()), self._largest) <= LARGEST:
            found = self._runs.distance(point)
            if found is None:
                found = self._single.distance(point)
        if found is None:
            found = _smallest(self._points - point)
        return found


class _Runs:
    """Reference points in runs of ``size`` that follow one another."""

    def __init__(self, points: Values, size: int) -> None:
        self._points, self._size = points, size
        count = -(-len(points) // size)
        members = points[self._members(np.arange(count))].reshape(count, size, -1)
        centres = members.mean(axis=1).astype(np.float32).astype(np.float64)
        radius = np.linalg.norm(members - centres[:, None], axis=2).max(axis=1)
        self._radius = np.nextafter(radius.astype(np.float32), np.float32(np.inf))
        self._table = np.empty((points.shape[1] + 1, count), dtype=np.float32)
        self._table[:-1] = centres.T
        self._table[-1] = 0.5 * np.einsum("nd,nd->n", centres, centres)

    def distance(self, point: Values) -> float | None:
        """Return the distance of a point to the nearest reference; None if too many are left."""
        length = math.sqrt(point @ point)
        query = np.empty(len(self._table), dtype=np.float32)
        query[:-1], query[-1] = point, -1.0
        values = query @ self._table
        start = self._size * int(values.argmax())
        first = _smallest(self._points[start : start + self._size] - point)
        # |a - c| <= d + r, solved for v: v >= (|a|² - (d + r)²) / 2, and E less
        share = ROUNDING * (len(point) + 10)
        level = (length * length - first * first) / 2 - share * (length + first) ** 2
        slope = first + 2 * share * (length + first)
        limit = self._radius * -(0.5 + share)
        limit -= slope
        limit *= self._radius
        limit += level
        near = (values >= limit).nonzero()[0]
        if len(near) == 1:
            return first
        if len(near) > MANY * len(values):
            return None
        return _smallest(self._points[self._members(near)] - point)

    def _members(self, runs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of the references in some runs; the last one may be repeated."""
        found = (self._size * runs[:, None] + np.arange(self._size)).ravel()
        return np.asarray(np.minimum(found, len(self._points) - 1))


def _smallest(differences: Values) -> float:
    """Return the length of the shortest of some differences of points."""
    return math.sqrt(np.einsum("nd,nd->n", differences, differences).min())
