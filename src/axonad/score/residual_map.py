"""Ridge regression of each value of a row on the others, all from one inverse.

With A the second moments of the values and P the inverse of A + penalty, the residual of value j in
a ridge regression on all others is (P z)_j / P_jj, as in separate regressions. A value that must
not be used as an input is marginalised: its rows are eliminated from P.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def residual_map(moments: Array, *, penalty: float) -> Array:
    """Return the matrix M for which ``z @ M`` are the residuals of all values."""
    inverse = _invert(moments, penalty)
    return np.asarray(inverse / np.diag(inverse))


def residual_map_without(moments: Array, *, penalty: float, unused: NDArray[np.integer]) -> Array:
    """Return the columns of :func:`residual_map` of the first values, some inputs not used.

    Row j of ``unused`` (targets, inputs) lists the values that do not help to predict value j.
    """
    inverse = _invert(moments, penalty)
    result = inverse[:, : len(unused)].copy()
    for j, skipped in enumerate(unused):
        if len(skipped):
            among = inverse[np.ix_(skipped, skipped)]
            result[:, j] -= inverse[:, skipped] @ np.linalg.solve(among, inverse[skipped, j])
            result[skipped, j] = 0.0
    return np.asarray(result / np.diag(result))


def _invert(moments: Array, penalty: float) -> Array:
    return np.asarray(np.linalg.inv(moments + penalty * np.eye(len(moments))), dtype=np.float64)
