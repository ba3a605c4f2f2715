"""AnomalyTransformer's associations and minimax."""

from __future__ import annotations

import torch

from axonad.baselines import anomaly_transformer
from tests.baselines.detectors import make_quick


def test_prior_associations_are_gaussians_around_each_row():
    sigma = torch.randn(2, 3, 9)
    squares = anomaly_transformer.squared_distances(9)
    prior = anomaly_transformer.prior_association(sigma, squares)
    torch.testing.assert_close(prior.sum(-1), torch.ones(2, 3, 9))
    assert torch.equal(prior.argmax(-1), torch.arange(9).expand(2, 3, 9))
    width = 3 ** (torch.sigmoid(5 * sigma[0, 0, 4]) + 1e-5) - 1
    naive = torch.exp(-((torch.arange(9) - 4.0) ** 2) / (2 * width**2))
    torch.testing.assert_close(prior[0, 0, 4], naive / naive.sum())


def test_both_associations_sum_to_one_and_agree_with_themselves():
    net = make_quick("AnomalyTransformer")._build(3)
    _, found = net(torch.randn(2, 12, 3))
    for series, prior in found:
        torch.testing.assert_close(series.sum(-1), torch.ones(2, 2, 12))
        torch.testing.assert_close(prior.sum(-1), torch.ones(2, 2, 12))
        same = anomaly_transformer.discrepancy(series, series)
        torch.testing.assert_close(same, torch.zeros(2, 12))
        assert (anomaly_transformer.discrepancy(series, prior) > 0).all()


def test_temperature_sets_how_much_attention_counts():
    detector = make_quick("AnomalyTransformer", temperature=0.0)
    net = detector._build(3).eval()
    x = torch.randn(4, 12, 3)
    back, found = net(x)
    error = (back - x)[:, -1].square()
    torch.testing.assert_close(detector._window_score(net, x), error / 12)
    distance = anomaly_transformer.discrepancy(*found[0])
    share = torch.softmax(-2 * distance, dim=-1)[:, -1:]
    detector.set_params(temperature=2.0)
    torch.testing.assert_close(detector._window_score(net, x), share * error)


def test_training_is_a_minimax():
    detector = make_quick("AnomalyTransformer", discrepancy_weight=3.0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = detector._build(3)
        x = torch.randn(8, 12, 3)
    detector._loss(net.train(), x, 1).backward()
    layer = net.layers[0]
    before = layer.sigma.weight.grad.clone(), layer.projection.weight.grad.clone()
    net.zero_grad()
    back, found = net(x)
    error = torch.nn.functional.mse_loss(back, x)
    distance = anomaly_transformer.discrepancy(*found[0]).mean()
    (towards,) = torch.autograd.grad(distance, layer.sigma.weight, retain_graph=True)
    torch.testing.assert_close(before[0], 3 * towards, rtol=1e-4, atol=1e-6)
    away, = torch.autograd.grad(
        2 * error - 3 * distance, layer.projection.weight, retain_graph=True
    )  # fmt: skip
    torch.testing.assert_close(before[1], away, rtol=1e-4, atol=1e-6)
