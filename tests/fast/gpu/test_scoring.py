from __future__ import annotations

import dataclasses

import pytest
import torch

from axonad.fast.gpu.scoring import GpuNet
from axonad.model.net import AxonNet
from tests.train.test_loop import NET


def make(**changes):
    torch.manual_seed(3)
    net = AxonNet(dataclasses.replace(NET, **changes)).eval()
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    net.requires_grad_(False)  # as after a fit
    return net, torch.randn(5, net.config.window, net.config.channels)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"horizon": 0, "tail": 1},
        {"horizon": 5, "tail": 16, "dilations": (1, 2, 4)},
        {"dilations": (9,)},
        {"channels": 5, "d_model": 12, "heads": 3, "window": 40, "tail": 10},
    ],
)
def test_outputs_are_those_of_the_network(changes):
    net, x = make(**changes)
    with torch.no_grad():
        expected = net.double()(x.double(), last=net.config.scored_steps)
        found = GpuNet(net)(x.double())
    for name, one, other in zip(found._fields, found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10, msg=name)


def test_autocast_sets_the_dtype():
    net, x = make()
    exact = GpuNet(net)(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = GpuNet(net)(x)
    assert rough.reconstruction.dtype == torch.float32
    difference = (rough.reconstruction - exact.reconstruction).abs().max()
    assert 0 < difference < 0.1
