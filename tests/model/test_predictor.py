from __future__ import annotations

import numpy as np
import pytest

from tests.model import naive
from tests.model.naive import make_net, window


@pytest.mark.parametrize("horizon", [0, 1, 3, 7])
@pytest.mark.parametrize("dilations", [(1,), (1, 2, 4, 8)])
def test_predictor_equals_naive_twin(horizon, dilations):
    net = make_net(horizon=horizon, dilations=dilations)
    _, H, _ = net.online(window(net))
    predicted = net.predictor(H).detach()  # (B, N, T, d)
    merged = predicted.transpose(1, 2).flatten(2)
    for i in range(len(merged)):
        expected = naive.predict_queries(H[i].detach().double().numpy(), net.predictor)
        np.testing.assert_allclose(merged[i], expected, atol=1e-5)


@pytest.mark.parametrize("horizon", [1, 2, 5])
@pytest.mark.parametrize("changed", [0, 7, 19])
def test_predictor_never_sees_the_future(horizon, changed):
    """A change at step t moves no prediction up to t + s - 1, and moves the one at t + s."""
    net = make_net(horizon=horizon)
    x = window(net, batch=1)
    other = x.clone()
    other[0, changed] += 1.0
    before, after = net(x).predicted[0], net(other).predicted[0]
    moved = (before - after).abs().amax(dim=(0, 2)) > 0
    assert not moved[: changed + horizon].any()
    if changed + horizon < net.config.window:
        assert moved[changed + horizon]
