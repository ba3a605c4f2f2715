from __future__ import annotations

import numpy as np
import pytest

import axonad
from axonad.joint_scoring import score_tails
from tests.conftest import waves


@pytest.mark.parametrize("scaling", ["array", "soft"])
def test_one_pass_gives_the_scores_of_each_detector(scaling):
    X, tails = waves(300), (3, 8, 5)
    params = {"window": 16, "d_model": 8, "heads": 2, "epochs": 1, "device": "cpu"}
    made = [axonad.AxonAD(**params, tail=k, scaling=scaling, verbose=False) for k in tails]
    axonad.fit_many(made, [X] * len(made))
    for detector, (scores, parts) in zip(made, score_tails(made, X), strict=True):
        expected = detector.explain(X, blame=False)
        np.testing.assert_allclose(scores, expected.scores, rtol=1e-4, atol=1e-4)
        assert list(parts) == list(expected.components)
        for name, values in parts.items():
            np.testing.assert_allclose(values, expected.components[name], rtol=1e-4, atol=1e-4)
