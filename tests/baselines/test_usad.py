"""USAD's two errors."""

from __future__ import annotations

import numpy as np

from tests.baselines.detectors import make_quick
from tests.conftest import waves


def test_usad_scores_both_passes():
    X, Y = waves(200), waves(60, seed=1)
    scores = {a: make_quick("USAD", alpha=a).fit(X).decision_function(Y) for a in (0.0, 0.3, 1.0)}
    np.testing.assert_allclose(scores[0.3], 0.3 * scores[1.0] + 0.7 * scores[0.0], rtol=1e-5)
