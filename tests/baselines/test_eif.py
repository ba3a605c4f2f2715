"""EIF's ranking."""

from __future__ import annotations

import numpy as np

from tests.baselines.detectors import fit_and_score, noise


def test_eif_ranks_a_far_row_first_and_copies_alike():
    X = np.vstack([np.cbrt(noise(300, 3)), [[9.0, -9.0, 9.0]], [[9.0, -9.0, 9.0]]])
    scores = fit_and_score("EIF", X, units="train")
    assert scores.argmax() >= 300
    assert scores[300] == scores[301]
    assert ((scores > 0) & (scores < 1)).all()
