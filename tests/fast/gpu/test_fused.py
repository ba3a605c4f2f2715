"""The Triton kernels against torch's own.

Without a GPU, where the package triton is installed, they run in its interpreter:
``TRITON_INTERPRET=1 pytest -m gpu tests/fast/gpu/test_fused.py tests/fast/gpu/test_optimiser.py``.
"""

from __future__ import annotations

import dataclasses
import os
import sys

import pytest
import torch
from torch.nn.functional import layer_norm, scaled_dot_product_attention

from axonad.axon import AxonAD
from axonad.fast.gpu import fused
from axonad.fast.gpu import stack as stacked
from axonad.fast.gpu.layout import Layout
from axonad.fast.gpu.scoring import GpuNet
from axonad.fast.gpu.stack import Batch
from axonad.model.net import AxonNet
from tests.train.test_loop import NET

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


@pytest.mark.gpu
def test_losses_and_gradients_of_a_stack_are_the_same():
    torch.manual_seed(3)
    nets = [AxonNet(NET).to(DEVICE) for _ in range(2)]
    layout = Layout(nets[0])
    rows, target = layout.pack(nets)
    rows.requires_grad_()
    steps = NET.window
    batch = Batch(
        torch.randn(2, 5, steps, NET.channels, device=DEVICE),
        None,
        torch.ones(2, steps, 5, device=DEVICE),
        torch.full((2, 5), 0.2, device=DEVICE),
    )
    results = []
    for by_kernel in (False, True):
        loss = stacked.losses(batch, rows, target, layout, fused=by_kernel)
        results.append((loss, torch.autograd.grad(loss.sum(), rows)[0]))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


@pytest.mark.gpu
def test_outputs_of_scoring_are_the_same():
    torch.manual_seed(4)
    net = AxonNet(dataclasses.replace(NET, channels=5)).to(DEVICE).eval()
    x = torch.randn(9, NET.window, 5, device=DEVICE)
    for one, other in zip(GpuNet(net, fused=True)(x), GpuNet(net)(x), strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


def test_a_failed_compilation_warns(monkeypatch):
    fused.can_compile.cache_clear()
    monkeypatch.delattr("axonad.fast.gpu.kernels", raising=False)
    monkeypatch.setitem(sys.modules, "axonad.fast.gpu.kernels", None)  # as without Triton
    with pytest.warns(UserWarning, match="fused kernels could not be compiled .* use torch's"):
        assert not fused.can_compile(torch.device("cpu"))
    fused.can_compile.cache_clear()


def test_few_or_long_windows_use_torch():
    gpu, config = torch.device("cuda"), AxonAD().net_config(19)
    longer = dataclasses.replace(config, window=fused.MAX_WINDOW + 1)
    assert not fused.can_fuse(config, gpu, windows=fused.MIN_WINDOWS - 1)
    assert not fused.can_fuse(longer, gpu, windows=fused.MIN_WINDOWS)
    assert not fused.can_fuse(config, torch.device("cpu"), windows=fused.MIN_WINDOWS)
