"""Ridge regression of each value of a row on the others, all from one matrix.

With A the second moments of the values and P the inverse of A + penalty, the residual of value j in
a ridge regression on all others is (P z)_j / P_jj, as in separate regressions. A value that must
not be used as an input is marginalised: its rows are eliminated from P.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from axonad.score.cholesky import invert_lower, solve_transposed

Array = NDArray[np.float64]


def residual_map(moments: Array, *, penalty: float) -> Array:
    """Return the matrix M for which ``z @ M`` are the residuals of all values."""
    inverse = np.linalg.inv(moments + penalty * np.eye(len(moments)))
    return np.asarray(inverse / np.diag(inverse))


def residual_map_without(moments: Array, *, penalty: float, unused: NDArray[np.integer]) -> Array:
    """Return the columns of :func:`residual_map` of the first values, some inputs not used.

    Row j of ``unused`` (targets, inputs) lists the values that do not help to predict value j.

    With J the values j and those of its row, column j is P[:, J] u with P[J, J] u = (1, 0, ..., 0):
    1 at j and 0 at the others. P itself is not computed. The values of all J are put last, so that
    P[J, J] follows from the last corner of the Cholesky factor.
    """
    targets = np.arange(len(unused))
    own = np.column_stack([targets, unused])
    last = np.unique(own)
    order = np.concatenate([np.setdiff1d(np.arange(len(moments)), last), last])
    lower = np.linalg.cholesky(moments[np.ix_(order, order)] + penalty * np.eye(len(order)))
    before = len(order) - len(last)
    corner = invert_lower(lower[before:, before:])
    columns = corner.T[np.searchsorted(last, own)]  # (targets, J, last)
    unit = np.eye(own.shape[1], 1)
    weights = np.linalg.solve(columns @ columns.transpose(0, 2, 1), unit[None])
    result = np.zeros((len(order), len(targets)))
    found = corner.T @ np.einsum("tjl,tj->lt", columns, weights[:, :, 0])
    result[last] = found
    result[order[:before]] = -solve_transposed(
        lower[:before, :before], lower[before:, :before].T @ found
    )
    result[own.T, targets] = unit
    return result
