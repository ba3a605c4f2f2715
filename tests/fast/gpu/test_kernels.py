"""The Triton kernels against torch's own.

Without a GPU, where the package triton is installed, they run in its interpreter:
``TRITON_INTERPRET=1 pytest -m gpu tests/fast/gpu/test_{kernels,fused,optimiser}.py``.
"""

from __future__ import annotations

import os

import pytest
import torch
from torch.nn.functional import layer_norm, scaled_dot_product_attention

from axonad.fast.gpu import fused

DEVICE = "cpu" if os.environ.get("TRITON_INTERPRET") else "cuda"
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def noise(*shape):
    return torch.randn(*shape, device=DEVICE, requires_grad=True)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("models", "windows", "steps", "heads", "size"),
    [(1, 3, 100, 2, 16), (2, 2, 50, 4, 8), (1, 1, 128, 1, 64), (1, 2, 5, 3, 4)],
)
def test_attention_and_its_gradient(models, windows, steps, heads, size):
    torch.manual_seed(1)
    qkv = noise(models, windows, steps, 3 * heads * size)
    q, k, v = qkv.view(models * windows, steps, 3, heads, size).permute(2, 0, 3, 1, 4)
    expected = scaled_dot_product_attention(q, k, v).transpose(1, 2)
    expected = expected.reshape(models, windows, steps, heads * size)
    found, grad = fused.attention(qkv, heads), torch.randn_like(expected)
    torch.testing.assert_close(found, expected, **CLOSE)
    torch.testing.assert_close(
        *(torch.autograd.grad(one, qkv, grad)[0] for one in (found, expected)), **CLOSE
    )


@pytest.mark.gpu
@pytest.mark.parametrize("period", [7, 28])
@pytest.mark.parametrize("models", [1, 3])
def test_sum_and_layer_norm_and_their_gradients(models, period):
    torch.manual_seed(2)
    x, added = noise(models, 28, 24), noise(models, period, 24)
    gain, bias = noise(models, 24), noise(models, 24)
    total = x + added.repeat(1, 28 // period, 1)
    expected = total, layer_norm(total, (24,)) * gain[:, None] + bias[:, None]
    found = fused.add_norm(x, added, gain, bias)
    grads = [torch.randn_like(x) for _ in found]
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)
    ours, theirs = (
        torch.autograd.grad(parts, (x, added, gain, bias), grads) for parts in (found, expected)
    )
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)
