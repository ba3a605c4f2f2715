"""The fused optimiser step against torch's; without a GPU, see ``test_kernels.py``."""

from __future__ import annotations

import pytest
import torch

from axonad.fast.gpu.optimiser import FusedUpdate, PlainUpdate
from tests.fast.gpu.test_kernels import DEVICE
from tests.train.test_loop import config


@pytest.mark.gpu
def test_fused_update_equals_torch():
    torch.manual_seed(5)
    start, encoder = torch.randn(2, 3000, device=DEVICE), torch.randn(2, 1000, device=DEVICE)
    gradients = torch.randn(4, 2, 3000, device=DEVICE)
    gradients[:, 0] *= 1e-3  # only the other model's gradient is clipped
    results = []
    for kind in (PlainUpdate, FusedUpdate):
        rows, target = start.clone().requires_grad_(), encoder.clone()
        change = kind(rows, config(), ema=0.9)
        for gradient in gradients[:2]:
            change(rows, target, gradient.clone())
        before, rows, target = rows, rows.detach()[[1]].requires_grad_(), target[[1]]
        change.retain(before, rows, [1])  # one model stops, the other continues
        for gradient in gradients[2:, [1]]:
            change(rows, target, gradient.clone())
        results.append((rows.detach(), target))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
