"""The stack's loss and gradients against those of the plain network."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from axonad.fast.gpu import stack as stacked
from axonad.fast.gpu.layout import Layout
from axonad.fast.gpu.stack import Batch
from axonad.model import predictor
from axonad.model.loss import WeightedLoss
from axonad.model.net import AxonNet
from axonad.train.mask import draw_blocks, mask_blocks
from tests.fast.gpu.conftest import PLAN, whole_mask
from tests.train.test_loop import CPU, NET

NEAR = [{}, {"horizon": 0}, {"channels": 5, "d_model": 12, "heads": 3}]
"""Networks whose predictor's receptive field fits before a masked block."""
FAR = [{"horizon": 5, "dilations": (1, 2, 4)}, {"dilations": (9,)}]
"""Networks whose predictor's receptive field does not fit, or is longer than the window."""


@pytest.mark.parametrize("changes", NEAR)
def test_the_block_is_predicted_where_the_receptive_field_fits(changes):
    assert stacked.predicted_steps(dataclasses.replace(NET, **changes), PLAN) == (4, True)


@pytest.mark.parametrize("changes", FAR)
def test_otherwise_the_tail_is_predicted(changes):
    assert stacked.predicted_steps(dataclasses.replace(NET, **changes), PLAN) == (7, False)


@pytest.mark.parametrize(
    ("changes", "last"),
    [(changes, last) for changes in NEAR + FAR for last in (7, 10, 16)]
    + [(changes, None) for changes in NEAR],  # None: predict a block of each window
)
def test_losses_and_gradients_equal_the_plain_network(double, changes, last):
    net = dataclasses.replace(NET, dropout=0.0, **changes)
    nets = [AxonNet(net) for _ in range(3)]
    layout = Layout(nets[0])
    rows, target = layout.pack(nets)
    target += 0.1 * torch.randn_like(target)
    for i, one in enumerate(nets):
        layout.unpack(rows[i], target[i], one)
    rows.requires_grad_()
    x = torch.randn(3, 7, 16, net.channels)
    share = torch.full((3, 7), 1 / 7)
    if last is not None:
        mask = mask_blocks(draw_blocks(21, window=16, plan=PLAN, device=CPU), 16, PLAN.span)
        mask = mask.view(3, 7, 16)
        batch = Batch(x, None, mask[..., -last:].transpose(1, 2), share)
    else:
        batch = Batch(x, torch.randint(9, 13, (3, 7)), torch.ones(3, 4, 7), share)
        mask = whole_mask(batch)
        assert (mask.sum(2) == 4).all()
    found = stacked.losses(batch, rows, target, layout)
    found.sum().backward()
    gradients = layout.weights(rows.grad)
    errors = stacked.window_errors(x, layout.weights(rows), net)
    for i, one in enumerate(nets):
        loss = WeightedLoss()
        expected = loss(one(x[i]), x[i], mask[i])
        expected.backward()
        torch.testing.assert_close(found[i], expected, rtol=1e-9, atol=1e-11)
        for name, parameter in one.named_parameters():
            if parameter.requires_grad:
                torch.testing.assert_close(
                    gradients[name][i], parameter.grad, rtol=1e-9, atol=1e-11
                )
        torch.testing.assert_close(gradients["log_variance"][i], loss.log_variance.grad)
        plain = (one(x[i]).reconstruction - x[i]).square().mean((1, 2))
        torch.testing.assert_close(errors[i], plain)


def test_dropout_equals_the_plain_network_with_the_same_masks(monkeypatch, double):
    nets = [AxonNet(NET).train() for _ in range(2)]
    layout = Layout(nets[0])
    rows, target = layout.pack(nets)
    rows.requires_grad_()
    x, mask = torch.randn(2, 5, 16, 3), torch.ones(2, 5, 16)
    masks = [(torch.rand(2, 16, 5, 16) > 0.4) / (1 - NET.dropout) for _ in NET.dilations]
    batch = Batch(x, None, mask.transpose(1, 2), torch.full((2, 5), 0.2))
    found = stacked.losses(batch, rows, target, layout, masks)
    found.sum().backward()
    gradients = layout.weights(rows.grad)
    for i, net in enumerate(nets):
        layers = iter([one[i].permute(1, 2, 0) for one in masks])  # (B, D, T)
        monkeypatch.setattr(predictor, "dropout", lambda z, p, on, layers=layers: z * next(layers))
        expected = WeightedLoss()(net(x[i]), x[i], mask[i])
        expected.backward()
        torch.testing.assert_close(found[i], expected, rtol=1e-9, atol=1e-11)
        for name, parameter in net.predictor.named_parameters():
            torch.testing.assert_close(
                gradients[f"predictor.{name}"][i], parameter.grad, rtol=1e-9, atol=1e-11
            )
