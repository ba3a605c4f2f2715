"""Moving means by doubling, against the mean of each window."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.views.moving_mean import moving_mean


@pytest.mark.parametrize("window", [*range(1, 12), 31, 40])
def test_means_are_those_of_each_window(window):
    X = np.random.default_rng(0).normal(size=(40, 2))
    before = X.copy()
    expected = [X[i : i + window].mean(axis=0) for i in range(41 - window)]
    np.testing.assert_allclose(moving_mean(X, window), expected, rtol=1e-12)
    np.testing.assert_array_equal(X, before)
