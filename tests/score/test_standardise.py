from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from axonad.score.standardise import RobustScale, combine


def test_robust_scale_is_median_and_iqr():
    values = np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    scale = RobustScale.fit(values)
    assert float(scale.median) == 3.0
    assert float(scale.spread) == 2.0
    np.testing.assert_allclose(scale.apply(np.array([3.0, 5.0])), [0.0, 1.0], atol=1e-8)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_robust_scale_is_always_finite(values):
    array = np.array(values)
    assert np.isfinite(RobustScale.fit(array).apply(array)).all()


def test_score_is_the_sum_of_its_terms():
    assert combine({"a": np.array([1.0, 2.0]), "b": np.array([3.0, -1.0])}).tolist() == [4.0, 1.0]
