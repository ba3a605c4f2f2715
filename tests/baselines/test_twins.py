"""Networks that compute in fewer or larger steps than their papers write are the same networks."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import axonad
from axonad.baselines import times_net
from tests.baselines import naive
from tests.quick import QUICK

CASES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in naive.TWINS),
    ("TFTResidual", {"dropout": 0.0}),
    ("TFTResidual", {"width": 1, "heads": 1}),  # embeddings of one number need no shortcut
]


@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize(("name", "changes"), CASES)
def test_losses_and_gradients_are_those_of_the_twin(name, changes, channels):
    detector = axonad.make_detector(name, **{**QUICK[name], **changes})
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = detector._build(channels).double()
        x = torch.randn(9, 12, channels, dtype=torch.float64)
        found = []
        for loss in (detector._loss, lambda net, x, _: naive.TWINS[name](detector, net, x)):
            torch.manual_seed(1)  # the same draws for both
            net.zero_grad()
            value = loss(net.train(), x, naive.EPOCH)
            value.backward()
            grads = (torch.zeros_like(w) if w.grad is None else w.grad for w in net.parameters())
            found.append([value.detach(), *grads])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("way", ["_at_once", "_one_by_one"])
@pytest.mark.parametrize(("rows", "kernels"), [(20, 2), (25, 4), (7, 1), (2, 3)])
def test_folding_by_periods_is_the_naive_one(way, rows, kernels):
    top = max(1, rows // 4)
    block = times_net.TimesBlock(4, hidden=3, top=top, kernels=kernels).double()
    x = torch.randn(6, rows, 4, dtype=torch.float64, requires_grad=True)
    period = rows // torch.randint(1, rows // 2 + 1, (6, top))
    found = getattr(block, way)(x, period)
    twin = torch.stack(
        [
            torch.stack([naive.folded(block, window, length) for length in lengths])
            for window, lengths in zip(x, period.tolist(), strict=True)
        ]
    )
    torch.testing.assert_close(found, twin, rtol=1e-9, atol=1e-12)
    weights, aim = [x, *block.parameters()], torch.randn_like(twin)
    for ours, theirs in zip(
        torch.autograd.grad((aim * found).sum(), weights),
        torch.autograd.grad((aim * twin).sum(), weights),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)
