"""The nearest of many reference points, for one point at a time: exact at half the cost.

One point after another must read all references, which takes longer than computing with them, so
they are read in single precision. What that leaves open is decided in double precision:

|a - b|² is smallest where v(b) = a·b - |b|² / 2 is largest. Let k be the reference with the largest
v in single precision, d its exact distance and s = |a| + d. Neither k nor the nearest reference is
longer than s, so rounding changes the v of both by at most E = 1.5 (D + 4) u s², where D is the
number of coordinates and u = 2^-24: D + 1 products of values rounded twice are summed, and
|a||b| + |b|² / 2 is at most 1.5 s². The nearest reference is therefore among those whose v in
single precision is at most 2 E below that of k. Usually these are one or two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from axonad.views.shape_search import Values, half_squares, nearest

ROUNDING = 1.5 * 2.0**-24  # of v in single precision, per coordinate and s²
MANY = 8  # candidates are compared one by one up to this share (an eighth) of the references


class Lookup:
    """Reference points prepared for the search of single points."""

    def __init__(self, points: Values) -> None:
        self._points = points
        self._halves = half_squares(points)
        table = np.empty((points.shape[1] + 1, len(points)), dtype=np.float32)
        table[:-1], table[-1] = points.T, self._halves
        self._table: NDArray[np.float32] = table

    def distance(self, point: Values) -> float:
        """Return the distance of a point (coordinates,) to the nearest reference."""
        query = np.append(point, -1.0).astype(np.float32)
        values = query @ self._table
        first = int(values.argmax())
        found = self._exact(point, np.array([first]))
        reach = float(np.sqrt(point @ point)) + found
        error = ROUNDING * (len(point) + 4) * reach * reach
        near = np.flatnonzero(values >= values[first] - 2 * error)
        if len(near) == 1:
            return found
        if MANY * len(near) > len(self._points):  # such as equal windows
            return float(nearest(point[None], self._points, self._halves)[0][0])
        return self._exact(point, near)

    def _exact(self, point: Values, indices: NDArray[np.int64]) -> float:
        """Return the smallest distance to some references."""
        apart = self._points[indices] - point
        return float(np.sqrt(np.einsum("nd,nd->n", apart, apart).min()))
