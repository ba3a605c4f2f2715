"""Isolation trees as arrays: how many cuts it takes to isolate a window.

A node's number is its place among the inner nodes; a leaf is written as -1 minus its place among
the leaves, so that one array holds both children of every inner node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Trees:
    """The shape of several trees, and the path length at each leaf."""

    roots: Numbers  # (trees,)
    first: Numbers  # (trees + 1,): where a tree's inner nodes begin
    children: Numbers  # (inner nodes, 2)
    paths: Values  # (leaves,)

    def mean_path(self, rows: int, goes_right: Callable[[slice], NDArray[np.bool_]]) -> Values:
        """Return each row's path length, averaged over the trees.

        ``goes_right(nodes)`` says for every row and each of these inner nodes where it would turn.
        """
        total = np.zeros(rows)
        everyone = np.arange(rows)
        for tree, root in enumerate(self.roots):
            nodes = slice(int(self.first[tree]), int(self.first[tree + 1]))
            place = np.full(rows, root)
            turns = goes_right(nodes) if nodes.stop > nodes.start else np.zeros((rows, 1), bool)
            while (inside := everyone[place >= 0]).size:
                at = place[inside]
                place[inside] = self.children[at, turns[inside, at - nodes.start].astype(int)]
            total += self.paths[-1 - place]
        result: Values = total / len(self.roots)
        return result


def expected_path(size: NDArray[np.integer] | int) -> Values:
    """Return the mean depth of a search that fails among ``size`` points, 0 for one point."""
    size = np.asarray(size, dtype=np.float64)
    more = np.maximum(size, 2)
    depth = 2 * (np.log(more - 1) + np.euler_gamma) - 2 * (more - 1) / more
    return np.where(size > 1, depth, 0.0)
