"""The nearest of many reference points, searched in the cells around a point, on a CPU or a GPU.

References are divided into *cells* of at most ``CELL`` points: all of them are halved at the median
of the coordinate that varies most, then each half, and so on (a k-d tree, Bentley 1975). A point is
compared with the centre of each cell, then with the references of the ``NEAR`` cells whose centres
are nearest. With at most ``NEAR`` cells these are all references. Otherwise a nearer one in another
cell may be missed; distances of held-out windows, which give the units, are found the same way.

46,000 references make 256 cells, so a point is compared with 256 centres and 8 x 180 references.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from axonad.extras import is_installed, need
from axonad.views.shape_lookup import Lookup

if TYPE_CHECKING:
    import torch

Values = NDArray[np.float64]
Indices = NDArray[np.int64]

CELL = 300  # most references of a cell
NEAR = 8  # cells whose references are compared with a point
EQUAL = 1e-5  # coordinates are equal if they round to the same multiple of this share of the size
TINY = 1e-300
TIE = 1e-12  # centres are equally near if they differ by less, as a share of the squared lengths
ROWS = 64  # points that are compared with a cell at a time, about: BLAS starts no threads for them
UNDIVIDED = 1024, 512  # references and points that are compared at a time without cells
TOGETHER = 8  # points from which on one search takes less time than one for each, if cells are few
GPU_VALUES = 2**27  # products that exist at a time on a GPU: 1 GiB


@dataclass(frozen=True)
class Cells:
    """Reference points, cell after cell."""

    points: Values
    bounds: Indices
    """Where each cell begins, and where the last one ends."""
    is_divided: bool = True
    """Whether only the cells around a point are searched; else all references are."""

    @classmethod
    def divide(cls, points: NDArray[np.floating]) -> Self:
        """Return reference points divided into cells; of too many equal ones only some are kept."""
        cells = list(_divide(points))
        bounds = np.cumsum([0, *map(len, cells)])
        return cls(points[np.concatenate(cells)].astype(np.float64), bounds)

    @classmethod
    def undivided(cls, points: Values) -> Self:
        """Return reference points of which all are compared with each point, as in 0.2.0."""
        bounds = np.append(np.arange(0, len(points), UNDIVIDED[0]), len(points))
        return cls(points, bounds, is_divided=False)

    def check(self) -> None:
        """Raise ValueError unless the cells hold all references."""
        sizes = np.diff(self.bounds, prepend=0)
        if sizes[0] != 0 or (sizes[1:] < 1).any() or self.bounds[-1] != len(self.points):
            raise ValueError("its training windows are not divided into cells")

    @cached_property
    def near(self) -> int:
        """Cells that are searched for a point."""
        cells = len(self.bounds) - 1
        return min(NEAR, cells) if self.is_divided else cells

    def nearest(self, points: Values, *, device: str = "cpu") -> tuple[Values, Indices]:
        """Return each point's distance to the nearest reference found, and the index of that one.

        |a - b|² is smallest where a·b - |b|² / 2 is largest; the distance is computed anew. A
        ``device`` other than a CUDA one means NumPy on the CPU.
        """
        found, queries = _cuda(device), self.queries(points)
        best = self._search(queries) if found is None else self.search_torch(queries, found)
        return np.sqrt(np.square(points - self.points[best]).sum(axis=1)), best

    @staticmethod
    def queries(points: Values) -> Values:
        """Return points with one more coordinate, so that a product is a·b - |b|² / 2."""
        return np.column_stack([points, np.full(len(points), -1.0)])

    def distances(self, points: Values) -> Values:
        """Return the distances of points of live rows, which are few."""
        if len(points) >= max(TOGETHER, (len(self.bounds) - 1) // 4):
            return self.nearest(points)[0]
        return np.array([self.distance(point) for point in points])

    def distance(self, point: Values) -> float:
        """Return the distance of one point to the nearest reference found."""
        if not self.is_divided:
            return self._lookup.distance(point)
        query = np.empty(len(point) + 1)
        query[:-1], query[-1] = point, -1.0
        high, best = -np.inf, 0
        for cell in self._find_near((query @ self._centres)[None])[0].nonzero()[0].tolist():
            start, table = self._tables[cell]
            products = query @ table
            found = int(products.argmax())
            if products[found] > high:
                high, best = products[found], start + found
        difference = point - self.points[best]
        return float(np.sqrt(difference @ difference))

    def _search(self, queries: Values) -> Indices:
        best, high = np.zeros(len(queries), dtype=np.int64), np.full(len(queries), -np.inf)
        size = max(1, ROWS * len(self._tables) // self.near) if self.is_divided else UNDIVIDED[1]
        for first in range(0, len(queries), size):
            some = queries[first : first + size]
            near = np.ascontiguousarray(self._find_near(some @ self._centres).T)
            for (start, table), is_near in zip(self._tables, near, strict=True):
                rows = np.flatnonzero(is_near)
                if not len(rows):
                    continue
                products = some[rows] @ table
                found = products.argmax(axis=1)
                value = products[np.arange(len(rows)), found]
                rows += first
                closer = value > high[rows]
                best[rows[closer]] = start + found[closer]
                high[rows[closer]] = value[closer]
        return best

    def search_torch(self, queries: Values, device: torch.device) -> Indices:
        """Return the same as the search on the CPU, found by torch on a device."""
        import torch

        with torch.inference_mode():
            table = torch.from_numpy(self._table).to(device)
            centres = torch.from_numpy(self._centres).to(device)
            sizes = torch.from_numpy(np.diff(self.bounds)).to(device)
            best = torch.empty(len(queries), dtype=torch.int64, device=device)
            size = max(1, GPU_VALUES // table.shape[1])
            for first in range(0, len(queries), size):
                some = torch.from_numpy(queries[first : first + size]).to(device)
                values = some @ table
                if self.near < len(sizes):
                    centred = some @ centres
                    least = centred.topk(self.near, dim=1).values[:, -1]
                    far = centred < (least - TIE * centred.abs().amax(dim=1))[:, None]
                    values.masked_fill_(far.repeat_interleave(sizes, dim=1), -torch.inf)
                best[first : first + size] = values.argmax(dim=1)
            return np.asarray(best.cpu().numpy())

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.points)

    @cached_property
    def _table(self) -> Values:
        return _with_halves(self.points)

    @cached_property
    def _tables(self) -> list[tuple[int, Values]]:
        pairs = pairwise(self.bounds.tolist())
        return [(start, self._table[:, start:stop]) for start, stop in pairs]

    @cached_property
    def _centres(self) -> Values:
        sums = np.add.reduceat(self.points, self.bounds[:-1], axis=0)
        return _with_halves(sums / np.diff(self.bounds)[:, None])

    def _find_near(self, values: Values) -> NDArray[np.bool_]:
        """Return which cells are searched, given the products with their centres."""
        place = values.shape[1] - self.near
        if place == 0:
            return np.ones(values.shape, dtype=bool)
        least = np.partition(values, place, axis=1)[:, place, None]
        return np.asarray(values >= least - TIE * max(values.max(), -values.min()))


def _divide(points: NDArray[np.floating]) -> Iterator[Indices]:
    """Yield the numbers of the points of each cell."""
    waiting = [_distinct(points)]
    while waiting:
        numbers = waiting.pop()
        if len(numbers) <= CELL:
            yield numbers
            continue
        some = points[numbers]
        order = np.argsort(some[:, some.var(axis=0).argmax()], kind="stable")
        half = len(order) // 2
        waiting += [numbers[order[half:]], numbers[order[:half]]]


def _distinct(points: NDArray[np.floating]) -> Indices:
    """Return the numbers of points without most of those that are equal, as of flat windows.

    Cells of equal points around a point would take the place of all others.
    """
    size = np.sqrt(np.square(points, dtype=np.float64).sum(axis=1).mean())
    rounded = np.round(points / max(EQUAL * size, TINY))
    order = np.argsort(rounded[:, 0], kind="stable")
    is_new = np.ones(len(points), dtype=bool)
    is_new[order[1:]] = (rounded[order[1:]] != rounded[order[:-1]]).any(axis=1)
    return np.flatnonzero(is_new)


def _with_halves(points: Values) -> Values:
    """Return points, one in each column, with half their squared length as one more coordinate."""
    return np.vstack([points.T, 0.5 * np.einsum("nd,nd->n", points, points)])


def _cuda(device: str) -> torch.device | None:
    """Return the CUDA device of that name; None if NumPy is to search."""
    if device == "cpu" or (device == "auto" and not is_installed("torch")):
        return None
    module = need("axonad.torch_runtime.device", what=f"the device {device!r} needs")
    found: torch.device = module.resolve_device(device)
    return found if found.type == "cuda" else None
