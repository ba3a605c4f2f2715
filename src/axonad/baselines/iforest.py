"""IForest: how few random cuts along single values isolate a row or a window.

Liu, Ting and Zhou, "Isolation forest", ICDM 2008, with the settings of TSB-AD. The trees are
scikit-learn's, drawn in the order its ``IsolationForest`` draws them, so the same seed gives the
same forest; only the windows that a tree uses are gathered. Where we differ: the score is the
paper's 2^(-path / expected path), which is TSB-AD's plus a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from axonad.baselines._forest import Trees, expected_path
from axonad.baselines._windowed import Values, WindowedDetector
from axonad.config import check_float, check_int
from axonad.data.frames import Matrix
from axonad.extras import need
from axonad.modelfile import Shapes, check_indices

MAX_INT = np.iinfo(np.int32).max


@dataclass(kw_only=True, eq=False, repr=False)
class IForest(WindowedDetector):
    """2^(−mean path length / expected path length), between 0 and 1.

    Parameters
    ----------
    trees, samples
        Number of trees; windows per tree.
    features
        Share of a window's values a tree may split on.
    seed
        Random seed.
    window, units, align
        See :mod:`axonad.baselines._windowed`. The paper's runs use windows of 100 rows (parity),
        TSB-AD's leaderboard of 2024 single rows.
    """

    trees: int = 25
    samples: int = 256
    features: float = 0.8
    seed: int = 0

    parity: ClassVar[Mapping[str, Any]] = {"window": 100}
    leaderboard: ClassVar[Mapping[str, Any]] = {"window": 1}
    learned: ClassVar[Shapes] = {
        **Trees.SHAPES, "_feature": ("inner",), "_threshold": ("inner",), "_size": (1,),
    }  # fmt: skip

    def _learn(self, X: Matrix) -> None:
        starts = self._training_starts()
        count = len(starts)
        size = min(self.samples, count)
        seeds = np.random.RandomState(self.seed).randint(MAX_INT, size=self.trees)
        targets = np.random.RandomState(self.seed).uniform(size=count)
        grown = [self._grow(X, starts, int(seed), targets, size) for seed in seeds]
        inner = np.cumsum([0] + [len(tree["feature"]) for tree in grown])
        leaves = np.cumsum([0] + [len(tree["paths"]) for tree in grown])
        shift = [
            np.where(tree["links"] >= 0, tree["links"] + i, tree["links"] - j)
            for tree, i, j in zip(grown, inner, leaves, strict=False)
        ]
        self._roots = np.array([links[0, 0] for links in shift])
        self._children = np.concatenate([links[1:] for links in shift])
        self._paths = np.concatenate([tree["paths"] for tree in grown])
        self._feature = np.concatenate([tree["feature"] for tree in grown])
        self._threshold = np.concatenate([tree["threshold"] for tree in grown])
        self._size = np.array([size])

    def _grow(
        self, X: Matrix, starts: NDArray[np.int64], seed: int, targets: Values, size: int
    ) -> dict[str, NDArray[Any]]:
        """Return one tree: splits of inner nodes, links (the root's first), leaf path lengths."""
        draw = need("sklearn.utils.random", what="IForest needs").sample_without_replacement
        state = np.random.RandomState(seed)
        model = need("sklearn.tree", what="IForest needs").ExtraTreeRegressor(
            max_features=1,
            max_depth=int(np.ceil(np.log2(max(size, 2)))),
            random_state=state.randint(MAX_INT),
        )
        values = self.window * X.shape[1]
        state = np.random.RandomState(seed)
        columns = draw(values, max(1, int(self.features * values)), random_state=state)
        drawn = np.sort(draw(len(targets), size, random_state=state))
        model.fit(self._gather(X, starts[drawn], np.float32)[:, columns], targets[drawn])
        return _tree_arrays(model.tree_, columns)

    def _window_score(self, windows: Values) -> Values:
        trees = Trees(self._roots, self._children, self._paths)
        values = windows.astype(np.float32)  # the trees were grown in float32
        path = trees.mean_path(
            len(windows),
            lambda rows, nodes: values[rows, self._feature[nodes]] > self._threshold[nodes],
        )
        return 2.0 ** -(path / max(float(expected(self._size)[0]), 1.0))

    def _check_learned(self) -> None:
        Trees(self._roots, self._children, self._paths).check()
        check_indices("feature", self._feature, low=0, count=self.window * self.n_features_in_)

    def _check_params(self) -> None:
        super()._check_params()
        check_int("trees", self.trees, low=1)
        check_int("samples", self.samples, low=2)
        check_float("features", self.features, above=0, high=1)
        check_int("seed", self.seed, low=0, high=2**32 - 1)


def expected(size: NDArray[np.integer]) -> Values:
    """Return the expected path length; 1 for two points, as in scikit-learn."""
    return np.where(size == 2, 1.0, expected_path(size))


def _tree_arrays(tree: Any, columns: NDArray[np.integer]) -> dict[str, NDArray[Any]]:
    """Return a scikit-learn tree as arrays in the format of :mod:`axonad.baselines._forest`."""
    is_inner = tree.children_left >= 0
    number = np.where(is_inner, np.cumsum(is_inner) - 1, -np.cumsum(~is_inner))
    depth = np.zeros(len(is_inner), dtype=np.int64)
    for node in np.flatnonzero(is_inner):  # parents come before their children
        depth[tree.children_left[node]] = depth[tree.children_right[node]] = depth[node] + 1
    links = np.stack([tree.children_left[is_inner], tree.children_right[is_inner]], axis=1)
    return {
        "links": np.concatenate([[[number[0], number[0]]], number[links]]),
        "paths": (depth + expected(tree.n_node_samples))[~is_inner],
        "feature": columns[tree.feature[is_inner]].astype(np.int64),
        "threshold": tree.threshold[is_inner],
    }
