"""Level: values in units of held-out values."""

from __future__ import annotations

import numpy as np

from axonad.score.level import Level


def test_the_median_is_zero_and_the_quantile_log_two():
    values = np.random.default_rng(0).exponential(size=10_000)
    level = Level.fit(values)
    median, high = np.quantile(values, [0.5, 0.99])
    scored = level.apply(np.array([values.min(), median, high, median + 3 * (high - median)]))
    np.testing.assert_allclose(scored, [0, 0, np.log(2), np.log(4)], atol=1e-12)


def test_values_that_never_change_have_a_unit():
    level = Level.fit(np.full(10, 3.0))
    assert level.apply(np.array([3.0])) == 0
    assert np.isfinite(level.apply(np.array([4.0]))).all()
