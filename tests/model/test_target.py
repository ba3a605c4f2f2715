from __future__ import annotations

import torch

from axonad.model.loss import WeightedLoss
from axonad.model.net import AxonNet
from tests.model.naive import make_net, window


def test_target_starts_as_a_copy_of_the_online_encoder():
    net = AxonNet(make_net().config)
    for slow, fast in zip(net.target.parameters(), net.online.parameters(), strict=True):
        assert torch.equal(slow, fast)


def test_target_gets_no_gradient_and_online_does():
    net = make_net().train()
    loss = WeightedLoss()
    x = window(net)
    output = net(x)
    assert not output.target.requires_grad
    loss(output, x, torch.ones(len(x), net.config.window)).backward()
    assert all(p.grad is None and not p.requires_grad for p in net.target.parameters())
    assert all(p.grad is not None for p in net.online.parameters())
    assert all(p.grad is not None for p in net.predictor.parameters())


def test_target_update_is_the_moving_average():
    net = make_net(ema=0.9)
    slow = [p.clone() for p in net.target.parameters()]
    net.target.update(net.online)
    for new, old, fast in zip(net.target.parameters(), slow, net.online.parameters(), strict=True):
        torch.testing.assert_close(new, 0.9 * old + 0.1 * fast)


def test_target_holds_embedding_position_norm_and_query_projection_only():
    names = {name for name, _ in make_net().target.encoder.named_parameters()}
    assert names == {
        "embed.weight", "embed.bias", "position", "norm.weight", "norm.bias", "query.weight",
    }  # fmt: skip
