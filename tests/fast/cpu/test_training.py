from __future__ import annotations

import pytest
import torch

from axonad.fast.cpu.gradient import SHARE, block_gradients
from axonad.model.loss import WeightedLoss
from axonad.torch_runtime.windows import gather_windows
from tests.model.test_net import make_net


def make(dropout):
    net = make_net(window=30, dropout=dropout, dilations=(1, 2)).double().train()
    loss = WeightedLoss().double()
    weights = [p for p in [*net.parameters(), *loss.parameters()] if p.requires_grad]
    series = torch.randn(200, 3, dtype=torch.float64)
    starts = torch.randperm(171)[: 2 * SHARE + 5]
    begins = torch.randint(net.predictor.room, 26, starts.shape)
    return net, loss, weights, series, starts, begins


@pytest.fixture(params=[1, 2])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


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
