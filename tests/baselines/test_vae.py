"""The formulas of the variational autoencoders."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import distributions as d

import axonad
from axonad.baselines import mavae, vsvae
from axonad.baselines._vae import Gaussian, GaussianHead, kl, warm_up, with_noise
from tests.baselines.detectors import gaussian
from tests.conftest import waves
from tests.quick import QUICK


@pytest.mark.parametrize("seed", range(20))
def test_divergence_and_likelihood_are_those_of_torch(seed):
    q, p = gaussian(4, 3, seed=seed), gaussian(4, 3, seed=seed + 1)
    x = gaussian(4, 3, seed=seed + 2).mean
    torch_q, torch_p = d.Normal(*q), d.Normal(*p)
    torch.testing.assert_close(kl(q, p), d.kl_divergence(torch_q, torch_p), rtol=1e-4, atol=1e-5)
    standard = d.Normal(torch.zeros(4, 3), torch.ones(4, 3))
    torch.testing.assert_close(kl(q), d.kl_divergence(torch_q, standard), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(p.nll(x), -torch_p.log_prob(x), rtol=1e-4, atol=1e-5)
    laplace = -d.Laplace(*p).log_prob(x)
    torch.testing.assert_close(vsvae.laplace_nll(x, p), laplace, rtol=1e-4, atol=1e-5)


def test_draws_follow_the_gaussian_and_carry_gradients():
    mean, std = torch.tensor([2.0], requires_grad=True), torch.tensor([0.5], requires_grad=True)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        draws = torch.cat([Gaussian(mean, std).draw() for _ in range(4000)])
    assert draws.mean().item() == pytest.approx(2, abs=0.05)
    assert draws.std().item() == pytest.approx(0.5, abs=0.03)
    draws.sum().backward()
    assert mean.grad is not None
    assert std.grad is not None


def test_a_head_never_gives_a_spread_of_zero():
    head = GaussianHead(2, 3)
    found = head(torch.full((1, 2), -1e6))
    assert (found.std > 0).all()
    assert torch.isfinite(found.nll(torch.zeros(1, 3))).all()


def test_weights_of_the_divergence_rise():
    rise = [warm_up(epoch, end=0.01) for epoch in range(1, 40)]
    assert rise[0] == 0
    assert rise == sorted(rise)
    assert rise[25:] == [0.01] * 14
    cycles = [mavae.cyclic_weight(epoch, end=0.01) for epoch in range(1, 75)]
    assert cycles[:25] == [0.0] * 25
    assert cycles[48] == 0.01 == max(cycles)
    assert cycles[49] == 0, "it falls back and rises anew"


def test_noise_is_for_training():
    x = torch.ones(2, 3)
    assert with_noise(x, 0.8, training=False) is x
    assert not torch.equal(with_noise(x, 0.8, training=True), x)


@pytest.mark.parametrize("name", ["WVAE", "SISVAE", "MAVAE"])
def test_the_score_is_a_likelihood(name):
    detector = axonad.make_detector(name, **QUICK[name]).fit(waves(200))
    X = waves(12, seed=1)
    x = torch.from_numpy(detector._scaler.apply(X))[None]
    with torch.no_grad():
        p = detector._net(x)[0]
    expected = -d.Normal(*p).log_prob(x).mean().item()
    assert detector.decision_function(X)[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["WVAE", "MAVAE", "VSVAE"])
def test_validation_is_judged_by_likelihood_alone(name):
    x = torch.from_numpy(waves(24).astype(np.float32)).reshape(2, 12, 3)
    losses = []
    for weight in (0.0, 100.0):
        detector = axonad.make_detector(name, **QUICK[name], kl_weight=weight)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            net = detector._build(3)
            trained = detector._loss(net.train(), x, 40).item()
            losses.append((detector._loss(net.eval(), x, 40).item(), trained))
    assert losses[0][0] == losses[1][0]
    assert losses[1][1] > losses[0][1]
