"""Correlations equal SciPy's, and extreme and constant values need no special care."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from axonad.bench.correlation import pearson, spearman


@pytest.mark.parametrize("tied", [False, True])
def test_correlations_are_scipys(tied):
    rng = np.random.default_rng(1)
    x = rng.normal(size=500)
    y = 0.4 * x + rng.standard_cauchy(500)
    if tied:
        x, y = np.round(x), np.round(y)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-10)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-10)


def test_extreme_scores_and_constants():
    x = np.array([1.0, 2.0, 3e200, 4.0])
    assert pearson(x, 2 * x) == pytest.approx(1)
    assert np.isnan(pearson(np.full(4, 7.3), x))
    assert np.isnan(spearman(x, np.zeros(4)))
