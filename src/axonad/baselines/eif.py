"""EIF: how few random cuts in any direction isolate a row.

Hariri, Carrasco Kind and Brunner, "Extended isolation forest", TKDE 2021, with the settings of
TSB-AD: full extension, 256 rows per tree. Where we differ: the cuts are drawn from ``seed`` (in
TSB-AD from global generators), so forests agree in distribution, not tree by tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from axonad.baselines._forest import Numbers, Trees, expected_path
from axonad.baselines._windowed import Values, WindowedDetector
from axonad.config import check_int
from axonad.data.frames import Matrix
from axonad.modelfile import Shapes


@dataclass(kw_only=True, eq=False, repr=False)
class EIF(WindowedDetector):
    """2^(−mean path length / expected path length), between 0 and 1.

    Parameters
    ----------
    trees, samples
        Number of trees; windows per tree.
    seed
        Random seed.
    window, units, align
        See :mod:`axonad.baselines._windowed`.
    """

    trees: int = 50
    samples: int = 256
    seed: int = 0

    learned: ClassVar[Shapes] = {
        **Trees.SHAPES,
        "_normal": ("inner", "values"), "_point": ("inner", "values"), "_size": (1,),
    }  # fmt: skip

    def _learn(self, X: Matrix) -> None:
        rng = np.random.default_rng(self.seed)
        starts = self._training_starts()
        size = min(self.samples, len(starts))
        forest = _Forest(rng, limit=int(np.ceil(np.log2(max(size, 2)))))
        for _ in range(self.trees):
            drawn = rng.choice(len(starts), size, replace=False)
            forest.grow(self._gather(X, starts[drawn]))
        self._roots = np.array(forest.roots)
        self._children = np.array(forest.children, dtype=np.int64).reshape(-1, 2)
        self._paths = np.array(forest.paths)
        self._normal = np.array(forest.normals).reshape(-1, self.window * X.shape[1])
        self._point = np.array(forest.points).reshape(self._normal.shape)
        self._size = np.array([size])

    def _window_score(self, windows: Values) -> Values:
        trees = Trees(self._roots, self._children, self._paths)
        path = trees.mean_path(len(windows), lambda rows, at: self._is_right(windows[rows], at))
        return 2.0 ** -(path / max(float(expected_path(self._size)[0]), 0.1))

    def _is_right(self, windows: Values, nodes: Numbers) -> NDArray[np.bool_]:
        """Return whether each window lies right of its node's plane; points on the plane do.

        The node's point is subtracted first, so that copies of it lie exactly on the plane.
        """
        away = windows - self._point[nodes]
        return np.asarray(np.einsum("ij,ij->i", away, self._normal[nodes]) >= 0)

    def _check_learned(self) -> None:
        Trees(self._roots, self._children, self._paths).check()

    def _check_params(self) -> None:
        super()._check_params()
        check_int("trees", self.trees, low=1)
        check_int("samples", self.samples, low=2)
        check_int("seed", self.seed, low=0)


class _Forest:
    """Grows trees and collects their nodes in lists."""

    def __init__(self, rng: np.random.Generator, *, limit: int) -> None:
        self.rng, self.limit = rng, limit
        self.roots: list[int] = []
        self.children: list[list[int]] = []
        self.paths: list[float] = []
        self.points: list[Values] = []
        self.normals: list[Values] = []

    def grow(self, sample: Values) -> None:
        self.roots.append(self._node(sample, 0))

    def _node(self, sample: Values, depth: int) -> int:
        """Add a node for ``sample`` and return its number."""
        if depth >= self.limit or len(sample) <= 1:
            self.paths.append(depth + float(expected_path(len(sample))))
            return -len(self.paths)
        normal = self.rng.standard_normal(sample.shape[1])
        point = self.rng.uniform(sample.min(axis=0), sample.max(axis=0))
        number = len(self.children)
        self.children.append([0, 0])
        self.normals.append(np.asarray(normal))
        self.points.append(point)
        right = (sample - point) @ normal >= 0
        halves = sample[~right], sample[right]
        self.children[number] = [self._node(half, depth + 1) for half in halves]
        return number
