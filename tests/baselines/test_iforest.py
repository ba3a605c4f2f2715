"""IForest against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

from axonad.baselines.iforest import IForest
from tests.baselines.detectors import fit_and_score, noise
from tests.baselines.naive import naive_windows, own_units


@pytest.mark.parametrize("window", [1, 7])
def test_iforest_is_scikit_learns(window):
    X, Y = noise(500, 5), noise(60, 5, seed=1)
    z, new = (own_units(naive_windows(data, window)) for data in (X, Y))
    model = IsolationForest(n_estimators=8, max_features=0.8, random_state=3).fit(z)
    scores = fit_and_score("IForest", X, Y, trees=8, seed=3, window=window, align="end")
    np.testing.assert_allclose(scores[window - 1 :], -model.score_samples(new))


def test_iforest_under_parity_scores_windows_of_100_rows_at_their_middle():
    X = noise(400, 3)
    z = own_units(naive_windows(X, 100))
    model = IsolationForest(n_estimators=25, max_features=0.8, random_state=0).fit(z)
    ends = -model.score_samples(z)
    expected = [ends[0]] * 50 + list(ends) + [ends[-1]] * 49
    np.testing.assert_allclose(fit_and_score("IForest", X, **IForest.parity), expected)
