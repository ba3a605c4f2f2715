"""The kernels for graphics cards against torch's own.

Without a card, where the package triton is installed, they run interpreted:
``TRITON_INTERPRET=1 pytest -m gpu tests/model/test_fused.py``.
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
from axonad.fast.gpu.optimiser import FusedUpdate, PlainUpdate
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
def test_a_stack_learns_the_same():
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
def test_the_update_is_that_of_torch():
    torch.manual_seed(5)
    start, encoder = torch.randn(2, 3000, device=DEVICE), torch.randn(2, 1000, device=DEVICE)
    gradients = torch.randn(4, 2, 3000, device=DEVICE)
    gradients[:, 0] *= 1e-3  # only the other one's is clipped
    results = []
    for kind in (PlainUpdate, FusedUpdate):
        rows, target = start.clone().requires_grad_(), encoder.clone()
        change = kind(rows, AxonAD()._train_config(), ema=0.9)
        for gradient in gradients[:2]:
            change(rows, target, gradient.clone())
        before, rows, target = rows, rows.detach()[[1]].requires_grad_(), target[[1]]
        change.keep(before, rows, [1])  # one model leaves, the other goes on
        for gradient in gradients[2:, [1]]:
            change(rows, target, gradient.clone())
        results.append((rows.detach(), target))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.gpu
def test_scores_are_the_same():
    torch.manual_seed(4)
    net = AxonNet(dataclasses.replace(NET, channels=5)).to(DEVICE).eval()
    x = torch.randn(9, NET.window, 5, device=DEVICE)
    for one, other in zip(GpuNet(net, fused=True)(x), GpuNet(net)(x), strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


def test_what_cannot_be_compiled_is_left_to_torch(monkeypatch):
    fused.compiles.cache_clear()
    monkeypatch.delattr("axonad.fast.gpu.kernels", raising=False)
    monkeypatch.setitem(sys.modules, "axonad.fast.gpu.kernels", None)  # as if Triton were not there
    with pytest.warns(UserWarning, match="fused kernels could not be compiled .* use torch's"):
        assert not fused.compiles(torch.device("cpu"))
    fused.compiles.cache_clear()


def test_few_windows_or_long_ones_are_left_to_torch():
    card, config = torch.device("cuda"), AxonAD()._net_config(19)
    longer = dataclasses.replace(config, window=fused.LONGEST + 1)
    assert not fused.can_fuse(config, card, windows=fused.WORTH - 1)
    assert not fused.can_fuse(longer, card, windows=fused.WORTH)
    assert not fused.can_fuse(config, torch.device("cpu"), windows=fused.WORTH)
