"""WVAE's latent vector."""

from __future__ import annotations

import torch

from axonad.baselines import wvae


def test_wvae_sends_one_vector_through_the_middle():
    net = wvae.Net(3, width=4, latent=2, noise=0.8).eval()
    p, q = net(torch.randn(5, 12, 3))
    assert q.mean.shape == (5, 2)
    assert p.mean.shape == (5, 12, 3)
