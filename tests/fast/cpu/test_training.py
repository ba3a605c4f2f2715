from __future__ import annotations

import pytest
import torch

from axonad.fast.cpu.training import SHARE, block_gradients, forward_blocks
from axonad.model.loss import WeightedLoss
from axonad.torch_runtime.windows import gather_windows
from tests.model.naive import make_net, window


def make(dropout):
    net = make_net(window=30, dropout=dropout, dilations=(1, 2)).double().train()
    loss = WeightedLoss().double()
    weights = [p for p in [*net.parameters(), *loss.parameters()] if p.requires_grad]
    series = torch.randn(200, 3, dtype=torch.float64)
    starts = torch.randperm(171)[: 2 * SHARE + 5]
    begins = torch.randint(net.config.reach + net.config.horizon, 26, starts.shape)
    return net, loss, weights, series, starts, begins


def test_shares_add_up_to_the_gradient_of_the_whole(threads):
    net, loss, weights, series, starts, begins = make(dropout=0.0)
    found = block_gradients(net, loss, weights, series, starts, begins, 4)
    x = gather_windows(series, starts, 30)
    mask = torch.zeros(len(x), 30, dtype=torch.float64)
    for row, begin in zip(mask, begins, strict=True):
        row[begin : begin + 4] = 1
    expected = torch.autograd.grad(loss(net(x), x, mask), weights)
    for got, want in zip(found, expected, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-12)


def test_a_seed_repeats_exactly_however_many_threads():
    made = make(dropout=0.5)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 2):
            torch.set_num_threads(threads)
            torch.manual_seed(3)
            found.append(block_gradients(*made, 4))
    finally:
        torch.set_num_threads(before)
    for others in found[1:]:
        assert all(map(torch.equal, found[0], others))


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
    room = net.config.reach + horizon
    starts = torch.tensor([room, room + 1, 33, 35, 30, 20])
    mask = torch.zeros(6, 40, dtype=torch.float64)
    for row, start in zip(mask, starts, strict=True):
        row[start : start + span] = 1
    full = loss(net(x), x, mask)
    part = loss(forward_blocks(net, x, starts, span), x, torch.ones(6, span, dtype=torch.float64))
    torch.testing.assert_close(part, full, rtol=1e-12, atol=0)
    expected = gradients(net, loss, full)
    for name, found in gradients(net, loss, part).items():
        torch.testing.assert_close(found, expected[name], rtol=1e-9, atol=1e-12)


def test_dropout_leaves_the_mean_as_it_is():
    net = make_net(window=40, dropout=0.5, d_model=64, dilations=(1,)).train()
    x = window(net, batch=1)
    starts = torch.tensor([30])
    with torch.no_grad():
        many = forward_blocks(net, x.repeat(4000, 1, 1), starts.repeat(4000), 5).predicted.mean(0)
        exact = forward_blocks(net.eval(), x, starts, 5).predicted[0]
    torch.testing.assert_close(many, exact, rtol=0, atol=0.05)
