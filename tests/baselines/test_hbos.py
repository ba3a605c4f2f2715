"""HBOS against counts made by hand."""

from __future__ import annotations

import numpy as np

from axonad import make_detector
from tests.conftest import waves


def test_hbos_is_a_hand_count():
    X = np.array([[0.0], [0.1], [0.2], [0.9], [1.0]])  # two bins of 0.5: three values, two values
    fitted = make_detector("HBOS", bins=2, units="raw").fit(X)
    full, half, least = (-np.log2(d + 0.1) for d in (3 / 5 / 0.5, 2 / 5 / 0.5, 2 / 5 / 0.5))
    new = np.array([[0.05], [0.5], [0.51], [1.2], [-0.2], [1.3], [-9.0]])
    expected = [full, full, half, half, full, least, least]  # 0.5 belongs to the left bin
    np.testing.assert_allclose(fitted.decision_function(new), expected)


def test_hbos_takes_a_channel_that_moves_by_rounding_alone():
    X = waves(300)
    X[:, 1] = 1.0 + np.where(np.arange(300) % 2, 0.0, np.finfo(float).eps)
    detector = make_detector("HBOS", units="raw").fit(X)
    assert np.isfinite(detector.decision_function(X)).all()
