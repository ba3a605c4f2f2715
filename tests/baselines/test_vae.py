"""The variational autoencoders: their formulas and what each of them promises."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import distributions as d

import axonad
from axonad.baselines import mavae, sisvae, vsvae, wvae
from axonad.baselines._vae import Gaussian, GaussianHead, kl, warm_up, with_noise
from tests.conftest import waves
from tests.quick import QUICK

NAMES = ("VASP", "WVAE", "SISVAE", "MAVAE", "VSVAE")


def gaussian(*shape: int, seed: int = 0) -> Gaussian:
    generator = torch.Generator().manual_seed(seed)
    mean, raw = (torch.randn(*shape, generator=generator) for _ in range(2))
    return Gaussian(mean, raw.exp())


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


@pytest.mark.parametrize("name", NAMES)
def test_scores_draw_nothing(name):
    detector = axonad.make_detector(name, **QUICK[name]).fit(waves(200))
    before = torch.get_rng_state()
    detector.decision_function(waves(60))
    assert torch.equal(torch.get_rng_state(), before)


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


def test_wvae_sends_one_vector_through_the_middle():
    net = wvae.Net(3, width=4, latent=2, noise=0.8).eval()
    p, q = net(torch.randn(5, 12, 3))
    assert q.mean.shape == (5, 2)
    assert p.mean.shape == (5, 12, 3)


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


def test_mavae_mixes_values_by_the_rows_alone():
    layer = mavae.Attention(3, 4, heads=2, size=6)
    x, z = torch.randn(2, 5, 3), torch.randn(2, 5, 4)
    naive = torch.empty(2, 5, 6)
    q, k, v = layer.query(x), layer.key(x), layer.value(z)
    for head in (slice(0, 3), slice(3, 6)):
        share = torch.softmax(q[..., head] @ k[..., head].mT / 3**0.5, dim=-1)
        naive[..., head] = share @ v[..., head]
    torch.testing.assert_close(layer(x, z), layer.out(naive))
    same = z[:, :1].expand_as(z)
    mixed = layer(x, same)
    torch.testing.assert_close(mixed, mixed[:, :1].expand_as(mixed), rtol=1e-4, atol=1e-5)


def test_vsvae_attends_with_its_states():
    net = vsvae.Net(3, width=4, latent=2, attention=5, noise=0.1).eval()
    x = torch.randn(2, 6, 3)
    states = net.encoder(x)[0]
    share = torch.softmax(states @ states.mT / 8**0.5, dim=-1)
    torch.testing.assert_close(net(x)[2].mean, net.attention(share @ states).mean)
    assert net(x)[1].mean.shape == (2, 2)


def test_vasp_weighs_the_divergence():
    X, spread = waves(300), []
    for weight in (0.0, 50.0):
        params = QUICK["VASP"] | {"epochs": 10, "patience": 10, "lr": 1e-2, "kl_weight": weight}
        detector = axonad.make_detector("VASP", **params).fit(X)
        with torch.no_grad():
            x = torch.from_numpy(detector._scaler.apply(X))[:240].reshape(20, 12, 3)
            spread.append(kl(detector._net(x)[1]).mean().item())
    assert spread[1] < 0.1 * spread[0]
