"""Weighted errors of each channel, against a loop over windows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad import AxonAD
from axonad.progress import Progress
from axonad.score.step_errors import end_errors, measure_windows, step_weights
from axonad.score.terms import query_mismatch
from tests.conftest import SMALL, waves


@pytest.mark.parametrize("window", [2, 5, 16, 100])
def test_weights_sum_to_one_and_sit_where_they_should(window):
    center, end = step_weights(window).astype(float)
    assert center.sum() == pytest.approx(1, abs=1e-6)
    assert end.sum() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(center, center[::-1], atol=1e-6)
    assert np.argmax(center) in (window // 2, (window - 1) // 2)
    assert np.count_nonzero(end) == max(1, round(0.2 * window))
    assert end[-1] == end.max()


def test_errors_and_mismatch_are_those_of_each_window():
    detector = AxonAD(**SMALL).fit(waves(300))
    X = waves(60, seed=1)
    net, series = detector.net_, detector.scaled(X, torch.device("cpu"))
    with Progress("scoring", 1, show=False) as progress:
        found = measure_windows(net, series, batch_size=7, progress=progress)
        end = measure_windows(net, series, batch_size=7, progress=progress, places=["end"])
    assert end.errors.shape == (1, 45, 3)
    np.testing.assert_allclose(end.mismatch, found.mismatch, rtol=1e-5)
    weights = step_weights(16).astype(float)
    for start in range(45):
        x = series[start : start + 16]
        output = net(x[None])
        squares = (output.reconstruction[0] - x).square().double().numpy()
        for place in (0, 1):
            naive = [
                sum(weights[place][t] * squares[t, channel] for t in range(16))
                for channel in range(3)
            ]
            np.testing.assert_allclose(found.errors[place, start], naive, rtol=1e-4, atol=1e-7)
        last = end_errors(output, x[None], net.config)[:, 0]
        np.testing.assert_allclose(found.errors[1, start], last, rtol=1e-4, atol=1e-7)
        with_end = end.errors[0, start]
        np.testing.assert_allclose(with_end, last, rtol=1e-4, atol=1e-7)
        mismatch = float(query_mismatch(net(x[None], last=4), x[None], net.config))
        assert found.mismatch[start] == pytest.approx(mismatch, rel=1e-3, abs=1e-6)
