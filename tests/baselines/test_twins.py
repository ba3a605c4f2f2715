"""Networks that compute in fewer or larger steps than their papers write are the same networks."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import axonad
from tests.baselines import naive
from tests.quick import QUICK

EPOCH = 7
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
            value = loss(net.train(), x, EPOCH)
            value.backward()
            found.append([value.detach(), *(weight.grad for weight in net.parameters())])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)
