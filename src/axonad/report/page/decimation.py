"""Fewer points for a picture, without losing a peak: min–max decimation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def bucket_edges(rows: int, most: int, cuts: Sequence[int] = ()) -> NDArray[np.int64]:
    """Return the edges of at most about ``most / 2`` runs of rows, none of which spans a cut.

    >>> bucket_edges(10, 4).tolist(), bucket_edges(10, 4, [3]).tolist()
    ([0, 5, 10], [0, 3, 10])
    """
    walls = [0, *(cut for cut in sorted(set(cuts)) if 0 < cut < rows), rows]
    edges = [np.zeros(1, dtype=np.int64)]
    for start, stop in pairwise(walls):
        count = min(stop - start, max(1, round(most / 2 * (stop - start) / rows)))
        edges.append(start + np.arange(1, count + 1) * (stop - start) // count)
    return np.concatenate(edges)


def thin_positions(x: Array, edges: NDArray[np.int64]) -> Array:
    """Return two positions per bucket: that of its first row and of the row in its middle.

    A bucket of one row has both positions on it. The last position is that of the last row.
    """
    starts, stops = edges[:-1], edges[1:]
    found = np.stack([x[starts], x[(starts + stops) // 2]], axis=1).ravel()
    found[-1] = x[-1]
    return found


def thin(values: Array, edges: NDArray[np.int64]) -> Array:
    """Return the smallest and the largest value of each bucket, in the order of their rows.

    NaN is left out; a bucket of nothing else stays NaN.

    >>> thin(np.array([1.0, 5, 2, 0, 9, 1]), np.array([0, 3, 6]))
    array([1., 5., 0., 9.])
    """
    starts = edges[:-1]
    known = np.isfinite(values)
    low = np.minimum.reduceat(np.where(known, values, np.inf), starts)
    high = np.maximum.reduceat(np.where(known, values, -np.inf), starts)
    rows = np.arange(len(values))
    bucket = np.searchsorted(edges, rows, side="right") - 1
    never = len(values)
    at_low = np.minimum.reduceat(np.where(values == low[bucket], rows, never), starts)
    at_high = np.minimum.reduceat(np.where(values == high[bucket], rows, never), starts)
    first = np.where(at_low <= at_high, low, high)
    second = np.where(at_low <= at_high, high, low)
    both = np.stack([first, second], axis=1).ravel()
    return np.where(np.isfinite(both), both, np.nan)


def envelope(values: Array, edges: NDArray[np.int64], *, upper: bool) -> Array:
    """Return the largest or smallest value of each bucket twice: the edge of a band.

    >>> envelope(np.array([1.0, 5, 2, 0]), np.array([0, 2, 4]), upper=True)
    array([5., 5., 2., 2.])
    """
    edge = thin(values, edges).reshape(-1, 2)
    return np.repeat(edge.max(axis=1) if upper else edge.min(axis=1), 2)


def with_breaks(x: Array, columns: Sequence[Array], breaks: Sequence[int]) -> list[Array]:
    """Return positions and columns with an empty point before each of these points.

    Lines are interrupted there.
    """
    places = [at for at in sorted(set(breaks)) if 0 < at < len(x)]
    middle = [(x[at - 1] + x[at]) / 2 for at in places]
    found = [np.insert(x, places, middle)]
    return found + [np.insert(column, places, np.nan) for column in columns]
