"""Solutions by Cholesky factors, against those of numpy."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.score import cholesky


@pytest.mark.parametrize("size", [1, 5, 6, 17])
def test_solutions_are_those_of_numpy(size, monkeypatch):
    monkeypatch.setattr(cholesky, "BLOCK", 6)
    rng = np.random.default_rng(size)
    values, z = rng.normal(size=(size, 3)), rng.normal(size=(2 * size, size))
    system = z.T @ z + 0.1 * np.eye(size)
    lower = np.linalg.cholesky(system)
    for found, expected in (
        (cholesky.solve_positive(system, values), np.linalg.solve(system, values)),
        (cholesky.solve_lower(lower, values), np.linalg.solve(lower, values)),
        (cholesky.solve_transposed(lower, values), np.linalg.solve(lower.T, values)),
        (cholesky.invert_lower(lower), np.linalg.inv(lower)),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
