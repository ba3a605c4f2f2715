"""RobustPCA: distance between a row's low-rank part and its principal coordinates.

Candès, Li, Ma and Wright, "Robust principal component analysis?", JACM 2011: the training rows are
split into a low-rank and a sparse matrix (principal component pursuit), and TSB-AD scores the
low-rank part of a row by its distance to its own principal coordinates.

Where we differ: TSB-AD can only score the rows it was fitted on. Each iteration of the split maps
rows one by one, given a small matrix that depends on all training rows. We keep these matrices and
apply the same iterations to any row: training rows get TSB-AD's scores, and every other row the
split it would have had. A long series is split from a sample of ``max_train`` rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from axonad.baselines._windowed import Values, check_sampling
from axonad.baselines.pca import flip_signs
from axonad.config import check_float, check_int
from axonad.data.frames import Matrix, Names
from axonad.detector import Detector
from axonad.modelfile import Arrays, check_number, take

BLOCK = 512  # rows iterated at a time: few enough for the CPU cache


@dataclass(kw_only=True, eq=False, repr=False)
class RobustPCA(Detector):
    """Sum over channels of the distance between a row's low-rank part and its coordinates.

    Parameters
    ----------
    rounds
        Maximum number of iterations of the split.
    tolerance
        Iteration stops when the unexplained share of the training rows falls below this.
    max_train
        Maximum number of rows to split, drawn at random; None splits all of them.
    seed
        Seed of that draw.
    """

    rounds: int = 1000
    tolerance: float = 1e-7
    max_train: int | None = 100_000
    seed: int = 0

    def _fit(self, X: Matrix, names: Names) -> Values | None:
        rows = np.arange(len(X))
        if self.max_train is not None and len(X) > self.max_train:
            draw = np.random.default_rng(self.seed)
            rows = np.sort(draw.choice(len(X), self.max_train, replace=False))
        self._kept = np.flatnonzero(np.any(X[rows] != 0, axis=0))
        low_rank = self._split(self._moving(X[rows]))
        self._mean = low_rank.mean(axis=0)
        centered = low_rank - self._mean
        _, axes = np.linalg.eigh(centered.T @ centered)
        self._axes = flip_signs(axes.T[::-1])
        return self._distance(low_rank) if len(rows) == len(X) else None

    def _split(self, D: Values) -> Values:
        """Return the low-rank part of ``D``; keep the threshold and each iteration's matrix."""
        largest = np.abs(D).sum(axis=0).max(initial=0.0)
        step = 4 * largest / D.size if D.size else 0.0  # 1/μ
        self._bound = float(step / np.sqrt(max(D.shape)))  # λ/μ
        self._basis = np.empty((0, D.shape[1]))
        self._ends = np.zeros(1, dtype=np.int64)
        goal = self.tolerance * np.linalg.norm(D)
        found: list[Values] = []
        M, U, L = D.copy(), np.zeros_like(D), np.zeros_like(D)
        while D.size and len(found) < self.rounds:
            found.append(_shrinkage(M, step))
            left = 0.0
            for b in _blocks(len(D)):
                left += _round(D[b], M[b], U[b], L[b], found[-1], self._bound)
            if np.sqrt(left) <= goal:
                break
        if found:
            self._basis = np.concatenate(found)
            self._ends = np.cumsum([0] + [len(basis) for basis in found])
        return L

    def _score(self, X: Matrix) -> Values:
        return np.concatenate([self._distance(self._low_rank(X[b])) for b in _blocks(len(X))])

    def _low_rank(self, X: Matrix) -> Values:
        D = self._moving(X)
        M, U, L = D.copy(), np.zeros_like(D), np.zeros_like(D)
        for start, stop in zip(self._ends, self._ends[1:], strict=False):
            _round(D, M, U, L, self._basis[start:stop], self._bound)
        return L

    def _moving(self, X: Matrix) -> Values:
        """Return the channels that were not constantly 0 in training, as a contiguous array."""
        return np.ascontiguousarray(X[:, self._kept], dtype=np.float64)

    def _distance(self, L: Values) -> Values:
        return np.asarray(np.abs(L - (L - self._mean) @ self._axes.T).sum(axis=1))

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        names = ("kept", "mean", "axes", "basis", "ends")
        return {"bound": self._bound}, {name: getattr(self, f"_{name}") for name in names}

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        lengths: dict[str, int] = {}
        part = partial(take, arrays, lengths=lengths)
        self._kept = part("kept", "kept", low=0, high=self.n_features_in_ - 1, whole=True)
        self._mean, self._axes = part("mean", "kept"), part("axes", "kept", "kept")
        self._basis = part("basis", "rows", "kept")
        self._ends = part("ends", None, low=0, high=lengths["rows"], whole=True)
        self._bound = check_number("bound", values["bound"])

    def _check_params(self) -> None:
        super()._check_params()
        check_int("rounds", self.rounds, low=1)
        check_float("tolerance", self.tolerance, above=0)
        check_sampling(self.max_train, self.seed)


def _shrinkage(M: Values, step: float) -> Values:
    """Return B such that M BᵀB has the singular values of ``M`` reduced by ``step``, at least 0."""
    squares, axes = np.linalg.eigh(M.T @ M)
    lengths = np.sqrt(np.maximum(squares, 0))
    kept = lengths > step
    gain = 1 - step / lengths[kept]
    return np.asarray((axes[:, kept] * np.sqrt(gain)).T)


def _round(D: Values, M: Values, U: Values, L: Values, basis: Values, bound: float) -> float:
    """Do one iteration in place; return the squared norm of the remainder D − L − S.

    U is the dual variable over μ. With R = D − L + U, the sparse part S is R − clip(R) and the next
    U is clip(R), so S need not be computed: the remainder D − L − S is the change of U.
    """
    np.matmul(M @ basis.T, basis, out=L)
    change = np.subtract(D, L)
    change += U
    np.minimum(change, bound, out=change)
    np.maximum(change, -bound, out=change)
    change -= U
    U += change
    np.add(L, U, out=M)
    M += change  # the next D − S + U
    return float(np.vdot(change, change))


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, rows, BLOCK))
