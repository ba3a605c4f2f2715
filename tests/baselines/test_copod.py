"""COPOD against a naive count."""

from __future__ import annotations

import numpy as np

from tests.baselines.detectors import fit_and_score, noise


def test_copod_is_a_naive_count():
    X, Y = noise(80, 3), noise(20, 3, seed=1)
    X[:, 1] *= -1
    Y[0] = 1e6

    def rarity(count):
        return -np.log(count / 80) if count else np.log(81)

    expected = []
    for row in Y:
        total = 0.0
        for x, column in zip(row, X.T, strict=True):
            left, right = rarity((column <= x).sum()), rarity((column >= x).sum())
            leaning = ((column - column.mean()) ** 3).mean()
            total += max(right if leaning > 0 else left, (left + right) / 2)
        expected.append(total)
    scores = fit_and_score("COPOD", X, Y, units="raw")
    np.testing.assert_allclose(scores, expected)
