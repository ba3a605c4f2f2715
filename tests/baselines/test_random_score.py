"""RandomScore is reproducible."""

from __future__ import annotations

import numpy as np

from tests.baselines.detectors import fit_and_score, noise


def test_random_scores_do_not_depend_on_what_comes_later():
    scores = fit_and_score("RandomScore", noise())
    np.testing.assert_array_equal(scores[:40], fit_and_score("RandomScore", noise(40, seed=1)))
    assert len(set(scores)) == 120
    assert not np.array_equal(scores, fit_and_score("RandomScore", noise(), seed=1))
