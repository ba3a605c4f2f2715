"""Windows as points: their coordinates along a few directions, and how far they lie from these.

A window is centred (the mean of each channel within it is subtracted), weighted, and flattened.
The *directions* are the leading principal ones of training windows. The *point* of a window holds
its coordinates along them and, as one more coordinate, the length of what they leave over. Two
points are never farther apart than their windows, and equally far if the directions describe both
windows fully. With 16 directions a window of 128 rows and 19 channels, 2432 values, becomes a point
of 17, so that it can be compared with many more training windows at the same cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from axonad.data.windows import count_windows
from axonad.views.shape_search import Indices, Values

BLOCK_VALUES = 400_000  # values of windows that exist at a time
NOTHING = 1e-9  # directions with a smaller share of the first one's variance are left out


def hann_root(length: int) -> Values:
    """Return the square root of a Hann window without its zeros at both ends.

    >>> hann_root(3).round(3).tolist()
    [0.707, 1.0, 0.707]
    """
    return np.sin(np.pi * np.arange(1, length + 1) / (length + 1))


def centred_windows(Z: NDArray[np.floating], length: int, starts: Indices) -> Values:
    """Return the windows that begin at ``starts``, without their means: (window, channel, step)."""
    windows = sliding_window_view(Z, length, axis=0)[starts].astype(np.float64, order="C")
    windows -= windows.mean(axis=2, keepdims=True)
    return windows


def blocks_of(
    Z: NDArray[np.floating], length: int, numbers: Indices | None = None
) -> Iterator[tuple[Indices, Values]]:
    """Yield centred windows, block by block, with their numbers: those given, None for all."""
    if numbers is None:
        numbers = np.arange(count_windows(len(Z), length))
    size = max(1, BLOCK_VALUES // (length * Z.shape[1]))
    for first in range(0, len(numbers), size):
        some = numbers[first : first + size]
        yield some, centred_windows(Z, length, some)


def step_energy(windows: Values) -> Values:
    """Return the sum of squares over the channels of each step of each window."""
    return np.asarray(np.einsum("ncl,ncl->nl", windows, windows))


@dataclass(frozen=True)
class ShapeSpace:
    """The directions of windows of one length under one weighting of their steps."""

    weights: Values
    """One per step of a window."""
    directions: Values
    """Orthonormal rows, each as long as a weighted, flattened window."""

    @classmethod
    def learn(cls, sample: Values, weights: Values, most: int) -> ShapeSpace:
        """Return the space of up to ``most`` leading directions of some centred windows."""
        flat = (sample * weights).reshape(len(sample), -1)
        variance, mixture = np.linalg.eigh(flat @ flat.T)
        leading = np.argsort(variance)[::-1][:most]
        leading = leading[variance[leading] > NOTHING * max(variance.max(), NOTHING)]
        directions = (mixture[:, leading] / np.sqrt(variance[leading])).T @ flat
        return cls(weights, directions)

    @cached_property
    def filters(self) -> Values:
        """What a centred window is multiplied with to get its coordinates, one column each."""
        channels = self.directions.shape[1] // len(self.weights)
        return np.ascontiguousarray((self.directions * np.tile(self.weights, channels)).T)

    @property
    def row_filters(self) -> Values:
        """The same for a window whose rows, not channels, follow one another."""
        count, length = len(self.directions), len(self.weights)
        by_row = self.filters.T.reshape(count, -1, length).transpose(0, 2, 1)
        return np.ascontiguousarray(by_row.reshape(count, -1).T)

    def points(self, windows: Values, energy: Values | None = None) -> Values:
        """Return centred windows as points: coordinates along the directions, and the rest.

        ``energy``, if it is known, is the sum of squares over the channels (window, step).
        """
        if energy is None:
            energy = step_energy(windows)
        return self.complete(windows.reshape(len(windows), -1) @ self.filters, energy)

    def complete(self, coordinates: Values, energy: Values) -> Values:
        """Return points: coordinates along the directions, and the length of what is left over."""
        points = np.empty((len(coordinates), len(self.directions) + 1))
        points[:, :-1] = coordinates
        rest = energy @ self.weights**2 - np.square(points[:, :-1]).sum(axis=1)
        points[:, -1] = np.sqrt(np.maximum(rest, 0))
        return points

    def channel_distances(self, windows: Values, points: Values) -> Values:
        """Return per channel the squared distance of each window from what its point describes."""
        described = (points[:, :-1] @ self.directions).reshape(windows.shape)
        return np.asarray(np.square(windows * self.weights - described).sum(axis=2))


def describe(
    Z: NDArray[np.floating],
    length: int,
    spaces: Sequence[ShapeSpace],
    wanted: Sequence[Indices] | None = None,
) -> list[Values]:
    """Return the points of windows in each of some spaces of windows of one length.

    ``wanted`` holds for each space the numbers of its windows, ascending; None wants all of them.
    """
    everything = np.arange(count_windows(len(Z), length))
    if wanted is None:
        wanted = [everything] * len(spaces)
    found: list[Values] = [
        np.empty((len(numbers), len(space.directions) + 1))
        for space, numbers in zip(spaces, wanted, strict=True)
    ]
    needed = np.zeros(len(everything), dtype=bool)
    for numbers in wanted:
        needed[numbers] = True
    filters = np.hstack([space.filters for space in spaces])  # one product is faster than many
    columns = np.cumsum([len(space.directions) for space in spaces])[:-1]
    for block, windows in blocks_of(Z, length, everything[needed]):
        energy = step_energy(windows)
        coordinates = np.split(windows.reshape(len(windows), -1) @ filters, columns, axis=1)
        for space, numbers, points, own in zip(spaces, wanted, found, coordinates, strict=True):
            begin, end = np.searchsorted(numbers, [block[0], block[-1] + 1])
            if end > begin:
                some = np.searchsorted(block, numbers[begin:end])
                points[begin:end] = space.complete(own[some], energy[some])
    return found


def spaced(count: int, most: int) -> Indices:
    """Return up to ``most`` evenly spaced numbers from 0 to ``count - 1``.

    >>> spaced(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))
