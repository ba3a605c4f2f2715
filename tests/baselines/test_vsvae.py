"""VSVAE's attention."""

from __future__ import annotations

import torch

from axonad.baselines import vsvae


def test_vsvae_attends_with_its_states():
    net = vsvae.Net(3, width=4, latent=2, attention=5, noise=0.1).eval()
    x = torch.randn(2, 6, 3)
    states = net.encoder(x)[0]
    share = torch.softmax(states @ states.mT / 8**0.5, dim=-1)
    torch.testing.assert_close(net(x)[2].mean, net.attention(share @ states).mean)
    assert net(x)[1].mean.shape == (2, 2)
