"""AutoEncoder's rows."""

from __future__ import annotations

import numpy as np

from tests.baselines.detectors import make_quick
from tests.conftest import waves


def test_autoencoder_sees_each_row_by_itself():
    detector = make_quick("AutoEncoder").fit(waves(200))
    X = waves(60, seed=1)
    order = np.random.default_rng(0).permutation(60)
    np.testing.assert_allclose(
        detector.decision_function(X)[order], detector.decision_function(X[order]), rtol=1e-5
    )


def test_autoencoder_stretches_rows_as_tsb_ad_does():
    detector = make_quick("AutoEncoder", tsb_ad=True, scaling="train").fit(waves(200))
    X = waves(60, seed=1)
    np.testing.assert_allclose(
        detector.decision_function(X), detector.decision_function(7 * X + 100), rtol=1e-3
    )
    assert np.isfinite(detector.decision_function(np.ones((5, 3)))).all()
