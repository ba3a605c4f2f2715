"""Queries on each window's own block: the same values and gradients as from the whole window."""

from __future__ import annotations

import pytest
import torch

from axonad.model.loss import WeightedLoss
from tests.model.test_net import make_net, window


def gradients(net, loss, value):
    weights = {**dict(net.named_parameters()), **dict(loss.named_parameters())}
    free = {name: p for name, p in weights.items() if p.requires_grad}
    found = torch.autograd.grad(value, list(free.values()))
    return dict(zip(free, found, strict=True))


@pytest.mark.parametrize("horizon", [0, 1, 4])
@pytest.mark.parametrize("dilations", [(1,), (1, 2, 4), (3, 1)])
def test_loss_and_gradients_equal_those_of_the_full_computation(horizon, dilations):
    net = make_net(window=40, horizon=horizon, dilations=dilations).double()
    loss = WeightedLoss().double()
    x, span = window(net, batch=6).double(), 5
    room = net.predictor.room
    starts = torch.tensor([room, room + 1, 33, 35, 30, 20])
    mask = torch.zeros(6, 40, dtype=torch.float64)
    for row, start in zip(mask, starts, strict=True):
        row[start : start + span] = 1
    full = loss(net(x), x, mask)
    part = loss(net.at_blocks(x, starts, span), x, torch.ones(6, span, dtype=torch.float64))
    torch.testing.assert_close(part, full, rtol=1e-12, atol=0)
    expected = gradients(net, loss, full)
    for name, found in gradients(net, loss, part).items():
        torch.testing.assert_close(found, expected[name], rtol=1e-9, atol=1e-12)


def test_dropout_leaves_the_mean_as_it_is():
    net = make_net(window=40, dropout=0.5, d_model=64, dilations=(1,)).train()
    x = window(net, batch=1)
    starts = torch.tensor([30])
    with torch.no_grad():
        many = net.at_blocks(x.repeat(4000, 1, 1), starts.repeat(4000), 5).predicted.mean(0)
        exact = net.eval().at_blocks(x, starts, 5).predicted[0]
    torch.testing.assert_close(many, exact, rtol=0, atol=0.05)
