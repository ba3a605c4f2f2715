"""KMeansAD against its own centres."""

from __future__ import annotations

import numpy as np

from axonad import make_detector
from tests.baselines.naive import naive_windows, own_units
from tests.conftest import waves


def test_kmeans_ad_is_the_distance_to_the_nearest_centre():
    X = waves(150)
    detector = make_detector("KMeansAD", window=8, clusters=3, align="end").fit(X)
    z = own_units(naive_windows(X, 8))
    far = np.linalg.norm(z[:, None] - detector._centers[None], axis=2).min(axis=1)
    np.testing.assert_allclose(detector.decision_function(X)[7:], far, rtol=1e-6)
