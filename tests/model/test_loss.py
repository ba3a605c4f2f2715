from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad.model.loss import WeightedLoss, masked_mean, query_distance
from tests.model import naive
from tests.model.naive import make_net, window


def test_query_loss_reaches_the_shared_embedding():
    """The predictor's gradient flows into the embedding; it is not detached."""
    net = make_net()
    x = window(net)
    output = net(x)
    query_distance(output.predicted, output.target).mean().backward()
    assert net.online.embed.weight.grad.abs().max() > 0
    assert net.online.query.weight.grad is None  # the online queries are not part of it


def test_loss_is_the_weighted_sum():
    net = make_net()
    x = window(net)
    output = net(x)
    mask = torch.zeros(len(x), net.config.window)
    mask[:, 12:15] = 1
    loss = WeightedLoss()
    with torch.no_grad():
        loss.log_variance.copy_(torch.tensor([0.5, -0.25]))
    mse = (output.reconstruction - x).square().mean()
    query = query_distance(output.predicted, output.target)[:, 12:15].mean()
    expected = np.exp(-0.5) * mse + 0.5 + np.exp(0.25) * query - 0.25
    torch.testing.assert_close(loss(output, x, mask), expected)


def test_query_loss_counts_masked_steps_only():
    torch.manual_seed(0)
    predicted, target = torch.randn(2, 2, 6, 4), torch.randn(2, 2, 6, 4)
    mask = torch.zeros(2, 6)
    mask[0, 1] = mask[1, 4] = 1
    loss = masked_mean(query_distance(predicted, target), mask)
    expected = [
        naive.cosine_distance(predicted[b, h, t].numpy(), target[b, h, t].numpy())
        for b, t in ((0, 1), (1, 4))
        for h in range(2)
    ]
    assert float(loss) == pytest.approx(np.mean(expected), abs=1e-6)


def test_zero_queries_give_a_finite_distance():
    zero = torch.zeros(1, 1, 2, 4)
    assert query_distance(zero, zero).tolist() == [[1.0, 1.0]]
