"""Isolation trees as arrays, for IForest and EIF.

An inner node's number is its index among the inner nodes; a leaf's number is -1 minus its index
among the leaves, so that one array holds both children of every inner node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from axonad.modelfile import Shapes, check_indices

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]
Turn = Callable[[Numbers, Numbers], NDArray[np.bool_]]


@dataclass(frozen=True)
class Trees:
    """The structure of several trees, and the path length at each leaf."""

    roots: Numbers  # (trees,)
    children: Numbers  # (inner nodes, 2)
    paths: Values  # (leaves,)

    SHAPES: ClassVar[Shapes] = {
        "_roots": ("trees",), "_children": ("inner", 2), "_paths": ("leaves",),
    }  # fmt: skip

    def check(self) -> None:
        """Raise ValueError unless every path ends at a leaf: inner nodes follow their parents."""
        inner, leaves = len(self.children), len(self.paths)
        check_indices("roots", self.roots, low=-leaves, count=inner)
        check_indices("children", self.children, low=-leaves, count=inner)
        is_inner = self.children >= 0
        if not len(self.roots) or (is_inner & (self.children <= np.arange(inner)[:, None])).any():
            raise ValueError("its trees are not trees")

    def mean_path(self, rows: int, goes_right: Turn) -> Values:
        """Return each row's path length, averaged over the trees.

        ``goes_right(rows, nodes)`` says, for each pair of a row and an inner node, whether the row
        descends to the right child.
        """
        total = np.zeros(rows)
        for root in self.roots:
            node = np.full(rows, root, dtype=np.int64)
            inside = np.flatnonzero(node >= 0)
            while inside.size:
                at = node[inside]
                node[inside] = self.children[at, goes_right(inside, at).astype(np.int64)]
                inside = inside[node[inside] >= 0]
            total += self.paths[-1 - node]
        return total / len(self.roots)


def expected_path(size: NDArray[np.integer] | int) -> Values:
    """Return the mean path length of an unsuccessful search among ``size`` points; 0 for 1."""
    size = np.asarray(size, dtype=np.float64)
    more = np.maximum(size, 2)
    depth = 2 * (np.log(more - 1) + np.euler_gamma) - 2 * (more - 1) / more
    return np.where(size > 1, depth, 0.0)
