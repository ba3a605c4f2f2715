"""The network against naive twins, and the promises that make its score mean anything."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.model import naive
from tests.model.naive import make_net, window


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_reconstruction_equals_naive_twin(heads):
    net = make_net(heads=heads)
    x = window(net)
    expected = np.stack([naive.reconstruct(w, net) for w in x.double().numpy()])
    np.testing.assert_allclose(net(x).reconstruction.detach(), expected, atol=1e-5)


def test_reconstruction_sees_the_whole_window():
    net = make_net()
    x = window(net, batch=1)
    other = x.clone()
    other[0, -1] += 1.0
    assert (net(x).reconstruction - net(other).reconstruction)[0, 0].abs().max() > 0


@pytest.mark.parametrize("steps", [1, 10, 59, 60])
def test_the_last_steps_alone_equal_those_of_the_whole_window(steps):
    net = make_net(window=60)
    x = window(net)
    with torch.no_grad():
        part, full = net(x, last=steps), net(x)
    for name in ("predicted", "target"):
        expected = getattr(full, name)[:, :, -steps:]
        torch.testing.assert_close(getattr(part, name), expected, rtol=1e-5, atol=1e-6)
