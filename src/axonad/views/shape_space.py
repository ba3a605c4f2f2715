"""Windows as points: their coordinates along a few directions, and how far they lie from these.

A window is centred (the mean of each channel within it is subtracted), weighted, and flattened.
The *directions* are the leading principal ones of training windows. The *point* of a window holds
its coordinates along them and, as one more coordinate, the length of what they leave over. Two
points are never farther apart than their windows, and equally far if the directions describe both
windows fully. With 16 directions a window of 128 rows and 19 channels, 2432 values, becomes a point
of 17, so that it can be compared with many more training windows at the same cost.

A coordinate of all windows of a series is its correlation with a filter, which is computed by fast
Fourier transforms of blocks of rows (overlap-save); that of single windows is a product.
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

BLOCK_VALUES = 100_000  # values of windows that exist at a time, which fit into a cache,
FEWEST = 64  # and windows at least
TRANSFORM_VALUES = 2**21  # values of a transform that exist at a time, and
ROW_VALUES = 2**23  # values of the rows that are transformed
DENSE = 1 / 8  # share of the windows of a series from which on transforms take less time
MANY = 256  # windows from which on they do
EVERY = slice(None)
NOTHING = 1e-9  # directions with a smaller share of the first one's variance are left out


def hann_root(length: int) -> Values:
    """Return the square root of a Hann window without its zeros at both ends.

    >>> hann_root(3).round(3).tolist()
    [0.707, 1.0, 0.707]
    """
    return np.sin(np.pi * np.arange(1, length + 1) / (length + 1))


def centred_windows(Z: NDArray[np.floating], length: int, starts: Indices) -> Values:
    """Return the windows that begin at ``starts``, without their means: (window, step, channel)."""
    rows = np.ascontiguousarray(Z)
    flat = sliding_window_view(rows.ravel(), length * rows.shape[1])
    some = flat[starts * rows.shape[1]].astype(np.float64)
    windows: Values = some.reshape(len(starts), length, rows.shape[1])
    windows -= windows.mean(axis=1, keepdims=True)
    return windows


def blocks_of(
    Z: NDArray[np.floating], length: int, numbers: Indices
) -> Iterator[tuple[Indices, Values]]:
    """Yield centred windows, block by block, with their numbers."""
    size = max(FEWEST, BLOCK_VALUES // (length * Z.shape[1]))
    for first in range(0, len(numbers), size):
        some = numbers[first : first + size]
        yield some, centred_windows(Z, length, some)


@dataclass(frozen=True)
class ShapeSpace:
    """The directions of windows of one length under one weighting of their steps."""

    weights: Values
    """One per step of a window."""
    directions: Values
    """Orthonormal rows, each as long as a weighted window, channel after channel."""

    def filters(self, channels: slice = EVERY) -> Values:
        """Return what makes coordinates of a window: (direction, channel, step).

        The sum of each filter over the steps is 0, so that windows need not be centred.
        """
        filters = self._by_channel[:, channels] * self.weights
        filters -= filters.mean(axis=2, keepdims=True)
        return filters

    @cached_property
    def row_filters(self) -> Values:
        """The same for windows row after row, one column each."""
        filters = self.filters().transpose(2, 1, 0)
        return filters.reshape(self.directions.shape[::-1])

    @property
    def _by_channel(self) -> Values:
        count, width = self.directions.shape
        length = len(self.weights)
        return self.directions.reshape(count, width // length, length)

    def points(self, windows: Values) -> Values:
        """Return centred windows as points: coordinates along the directions, and the rest."""
        energy = np.einsum("nlc,nlc->nl", windows, windows) @ self.weights**2
        return complete(windows.reshape(len(windows), -1) @ self.row_filters, energy)

    def channel_distances(self, windows: Values, points: Values) -> Values:
        """Return per channel the squared distance of each window from what its point describes."""
        described = np.tensordot(points[:, :-1], self._by_channel, 1).transpose(0, 2, 1)
        return np.asarray(np.square(windows * self.weights[:, None] - described).sum(axis=1))


def learn_spaces(
    flat: Values, weights: Values, some: Sequence[NDArray[np.bool_]], most: int
) -> list[ShapeSpace]:
    """Return the spaces of up to ``most`` leading directions of some of the sampled windows each.

    ``flat`` holds the windows, centred, weighted and flattened row by row. The largest value of a
    direction is positive, as its sign is arbitrary.
    """
    products = flat @ flat.T
    mixtures = []
    for chosen in some:
        numbers = np.flatnonzero(chosen)
        variance, vectors = np.linalg.eigh(products[np.ix_(numbers, numbers)])
        leading = np.argsort(variance)[::-1][:most]
        leading = leading[variance[leading] > NOTHING * max(variance.max(), NOTHING)]
        mixture = np.zeros((len(leading), len(flat)))
        mixture[:, numbers] = (vectors[:, leading] / np.sqrt(variance[leading])).T
        mixtures.append(mixture)
    spaces, shape = [], (len(weights), flat.shape[1] // len(weights))
    for mixture in mixtures:
        found = mixture @ flat
        largest = np.take_along_axis(found, np.abs(found).argmax(axis=1)[:, None], axis=1)
        by_row = (found * np.sign(largest)).reshape(len(found), *shape)
        by_channel = np.ascontiguousarray(by_row.transpose(0, 2, 1))
        spaces.append(ShapeSpace(weights, by_channel.reshape(found.shape)))
    return spaces


def complete(coordinates: Values, energy: Values) -> Values:
    """Return points: coordinates along the directions, and the length of what is left over."""
    points = np.empty((len(coordinates), coordinates.shape[1] + 1))
    points[:, :-1] = coordinates
    rest = energy - np.einsum("nd,nd->n", coordinates, coordinates)
    points[:, -1] = np.sqrt(np.maximum(rest, 0))
    return points


def describe(
    Z: NDArray[np.floating],
    length: int,
    spaces: Sequence[ShapeSpace],
    wanted: Sequence[Indices] | None = None,
) -> list[Values]:
    """Return the points of windows in each of some spaces of windows of one length.

    ``wanted`` holds for each space the numbers of its windows, ascending; None wants all of them.
    """
    count = count_windows(len(Z), length)
    if wanted is None:
        wanted = [np.arange(count)] * len(spaces)
    found = [
        np.empty((len(numbers), len(space.directions) + 1))
        for space, numbers in zip(spaces, wanted, strict=True)
    ]
    needed = np.zeros(count, dtype=bool)
    for numbers in wanted:
        needed[numbers] = True
    sure = np.flatnonzero(needed)
    is_dense = len(sure) >= max(MANY, DENSE * count)
    blocks = _transformed(Z, length, spaces) if is_dense else _multiplied(Z, length, spaces, sure)
    ends = np.cumsum([len(space.directions) for space in spaces])
    for block, coordinates, energies in blocks:
        columns = np.split(coordinates, ends[:-1], axis=1)
        for points, numbers, own, energy in zip(found, wanted, columns, energies, strict=True):
            begin, end = np.searchsorted(numbers, [block[0], block[-1] + 1])
            some = np.searchsorted(block, numbers[begin:end])
            points[begin:end] = complete(own[some], energy[some])
    return found


Block = tuple[Indices, Values, Sequence[Values]]
"""Numbers of windows, their coordinates in all spaces side by side, their energy in each space."""


def _multiplied(
    Z: NDArray[np.floating], length: int, spaces: Sequence[ShapeSpace], numbers: Indices
) -> Iterator[Block]:
    """Yield coordinates and energy of some windows, block by block."""
    filters = np.hstack([space.row_filters for space in spaces])  # one product is faster than many
    weightings = [space.weights**2 for space in spaces]
    for block, windows in blocks_of(Z, length, numbers):
        energy = np.einsum("nlc,nlc->nl", windows, windows) @ np.transpose(weightings)
        yield block, windows.reshape(len(windows), -1) @ filters, energy.T


def _transformed(
    Z: NDArray[np.floating], length: int, spaces: Sequence[ShapeSpace]
) -> Iterator[Block]:
    """Yield coordinates and energy of all windows, block by block."""
    size = 1 << (5 * length // 2).bit_length()
    hop = size - length + 1
    width = max(1, sum(len(space.directions) for space in spaces))
    most = min(TRANSFORM_VALUES // (size * width), ROW_VALUES // (hop * Z.shape[1]))
    step = hop * max(1, most)
    for first in range(0, count_windows(len(Z), length), step):
        rows = Z[first : first + step + length - 1].astype(np.float64)
        rows -= rows.mean(axis=0)  # changes no window, but makes sums of squares exacter
        numbers = np.arange(first, first + len(rows) - length + 1)
        yield numbers, _correlate(rows, spaces, size), _energies(rows, spaces)


def _correlate(rows: Values, spaces: Sequence[ShapeSpace], size: int) -> Values:
    """Return the coordinates of all windows, by transforms of ``size`` rows."""
    length, channels = len(spaces[0].weights), rows.shape[1]
    count, hop = len(rows) - length + 1, size - length + 1
    blocks, width = -(-count // hop), sum(len(space.directions) for space in spaces)
    padded = np.zeros((channels, blocks * hop + length - 1))
    padded[:, : len(rows)] = rows.T
    total = np.zeros((size // 2 + 1, blocks, width), dtype=np.complex128)
    some = max(1, 2 * TRANSFORM_VALUES // (size * max(1, width)))
    for first in range(0, channels, some):
        part = slice(first, first + some)
        filters = np.concatenate([space.filters(part) for space in spaces])
        bank = np.fft.rfft(filters, size).conj().transpose(2, 1, 0)
        series = np.fft.rfft(sliding_window_view(padded[part], size, axis=1)[:, ::hop])
        total += np.ascontiguousarray(series.transpose(2, 1, 0)) @ np.ascontiguousarray(bank)
    found = np.fft.irfft(np.ascontiguousarray(total.transpose(1, 2, 0)), size)[:, :, :hop]
    return np.asarray(found.transpose(0, 2, 1).reshape(blocks * hop, width)[:count])


def _energies(rows: Values, spaces: Sequence[ShapeSpace]) -> list[Values]:
    """Return the weighted sum of squares of all windows, centred, in each space.

    Of a channel with mean m in a window, it is the sum over steps of w²x² - 2 m w²x + m²w².
    """
    length, channels = len(spaces[0].weights), rows.shape[1]
    known = {id(space.weights): space.weights**2 for space in spaces}
    weights = np.vstack([np.full(length, 1 / length), *known.values()])
    squares = np.einsum("nc,nc->n", rows, rows)
    found = np.empty((len(known), len(rows) - length + 1))
    for shift in range(min(length, found.shape[1])):  # windows that follow one another are no copy
        count = (len(rows) - shift) // length
        stop = shift + count * length
        sums = weights @ rows[shift:stop].reshape(count, length, channels)
        means = sums[:, 0]
        by_step = squares[shift:stop].reshape(count, length) @ weights[1:].T
        for i, squared in enumerate(weights[1:]):
            between = 2 * sums[:, i + 1] - squared.sum() * means
            found[i, shift::length] = by_step[:, i] - np.einsum("nc,nc->n", means, between)
    return [found[list(known).index(id(space.weights))] for space in spaces]


def spaced(count: int, most: int) -> Indices:
    """Return up to ``most`` evenly spaced numbers from 0 to ``count - 1``.

    >>> spaced(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))
