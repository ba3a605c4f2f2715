"""Networks computed by the Triton kernels; without a GPU, see ``test_kernels.py``."""

from __future__ import annotations

import dataclasses
import sys

import pytest
import torch

from axonad.axon import AxonAD
from axonad.fast.gpu import fused
from axonad.fast.gpu import stack as stacked
from axonad.fast.gpu.layout import Layout
from axonad.fast.gpu.scoring import GpuNet
from axonad.fast.gpu.stack import Batch
from axonad.model.net import AxonNet
from tests.fast.gpu.test_kernels import CLOSE, DEVICE
from tests.train.test_loop import NET


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
