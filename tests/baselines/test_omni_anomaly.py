"""OmniAnomaly's loss and score."""

from __future__ import annotations

import pytest
import torch
from torch import distributions as d

from tests.baselines.detectors import make_quick


@pytest.fixture
def net():
    torch.manual_seed(0)
    return make_quick("OmniAnomaly")._build(3).eval()


def test_the_loss_is_the_error_and_the_weighted_divergence(net):
    x = torch.rand(4, 12, 3)
    with torch.no_grad():
        back, mean, log_variance = net(x)
        q = d.Normal(mean, (log_variance / 2).exp())
        divergence = d.kl_divergence(q, d.Normal(0.0, 1.0)).sum((1, 2)).mean()
        for beta in (0.0, 0.5):
            found = make_quick("OmniAnomaly", beta=beta)._loss(net, x, 1)
            expected = (back - x).square().mean() + beta * divergence
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_latent_variables_are_drawn_in_training_and_their_mean_scores(net):
    x = torch.rand(4, 12, 3)
    with torch.no_grad():
        back, mean, _ = net(x)
        torch.testing.assert_close(back, net.decoder(mean))
        score = make_quick("OmniAnomaly")._window_score(net, x)
        torch.testing.assert_close(score, (back - x).square().mean(1))
        drawn = [net.train()(x)[0] for _ in range(2)]
    assert not torch.equal(*drawn)


def test_parity_keeps_outputs_between_zero_and_one():
    torch.manual_seed(0)
    net = make_quick("OmniAnomaly", tsb_ad=True)._build(3).eval()
    back = net(100 * torch.randn(4, 12, 3))[0]
    assert ((back >= 0) & (back <= 1)).all()
