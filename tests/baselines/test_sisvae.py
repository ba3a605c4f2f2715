"""SISVAE's smoothness and prior."""

from __future__ import annotations

import numpy as np
import torch
from torch import distributions as d

import axonad
from axonad.baselines import sisvae
from axonad.baselines._vae import Gaussian
from tests.baselines.detectors import gaussian
from tests.conftest import waves
from tests.quick import QUICK


def test_sisvae_smoothness_is_zero_where_nothing_changes():
    still = Gaussian(torch.full((2, 5, 3), 1.5), torch.full((2, 5, 3), 0.3))
    torch.testing.assert_close(sisvae.smoothness(still), torch.zeros(2, 4, 3))
    moving = gaussian(2, 5, 3)
    smooth = sisvae.smoothness(moving)
    assert (smooth > 0).all()
    naive = d.kl_divergence(
        d.Normal(moving.mean[:, 1], moving.std[:, 1]), d.Normal(moving.mean[:, 2], moving.std[:, 2])
    )
    torch.testing.assert_close(smooth[:, 1], naive, rtol=1e-4, atol=1e-5)


def test_sisvae_penalises_jumps():
    X = waves(400) + 0.5 * np.random.default_rng(0).normal(size=(400, 3))
    roughness = []
    for weight in (0.0, 20.0):
        params = QUICK["SISVAE"] | {"epochs": 15, "patience": 15, "lr": 1e-2, "smooth": weight}
        detector = axonad.make_detector("SISVAE", **params).fit(X)
        with torch.no_grad():
            p = detector._net(torch.from_numpy(detector._scaler.apply(X))[None])[0]
        roughness.append(p.mean.diff(dim=1).abs().mean().item())
    assert roughness[1] < 0.8 * roughness[0]


def test_sisvae_starts_from_the_standard_prior_and_never_looks_ahead():
    net = sisvae.Net(3, width=8, latent=2).eval()
    x = torch.randn(2, 6, 3)
    changed = x.clone()
    changed[:, 4:] = 9.0
    p, q, prior = net(x)
    torch.testing.assert_close(prior.mean[:, 0], torch.zeros(2, 2))
    torch.testing.assert_close(prior.std[:, 0], torch.ones(2, 2))
    for before, after in zip((p, q, prior), net(changed), strict=True):
        torch.testing.assert_close(before.mean[:, :4], after.mean[:, :4])
    torch.testing.assert_close(prior.mean[:, 4], net(changed)[2].mean[:, 4])
