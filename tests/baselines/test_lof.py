"""LOF against scikit-learn's."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import LocalOutlierFactor

from axonad import make_detector
from tests.baselines.detectors import noise
from tests.baselines.naive import own_units


def test_lof_is_scikit_learns():
    X, Y = noise(200), noise(30, seed=1)
    model = LocalOutlierFactor(n_neighbors=15, novelty=True).fit(own_units(X))
    detector = make_detector("LOF", neighbours=15).fit(X)
    np.testing.assert_allclose(detector.decision_function(X), -model.negative_outlier_factor_)
    np.testing.assert_allclose(detector.decision_function(Y), -model.score_samples(own_units(Y)))
