"""Layers computed by one Triton kernel each (``kernels.py``), with their gradients."""

from __future__ import annotations

import warnings
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from axonad.model.config import NetConfig

MIN_WINDOWS = 200_000  # with fewer windows, compiling costs more than the kernels save
MAX_WINDOW = 128  # steps that one program holds
MAX_HEAD_SIZE = 64  # columns of a head that one program holds
MIN_SHARED_MEMORY = 150_000  # bytes per block that a kernel may need; consumer GPUs have less
EPS = 1e-5  # of torch's layer norm


def can_fuse(config: NetConfig, device: torch.device, *, windows: int) -> bool:
    """Return whether Triton kernels can compute this network and save time on this many windows."""
    return (
        device.type == "cuda"
        and windows >= MIN_WINDOWS
        and config.window <= MAX_WINDOW
        and config.d_model // config.heads <= MAX_HEAD_SIZE
        and find_spec("triton") is not None
        and _shared_memory(device) >= MIN_SHARED_MEMORY
        and can_compile(device)
    )


@lru_cache(maxsize=8)
def can_compile(device: torch.device) -> bool:
    """Return whether Triton can compile kernels here (it needs a C compiler); warn if not."""
    try:
        row = torch.ones(1, 1, 16, device=device)
        load_kernels().add_norm(row, row, row[0], row[0], EPS)
    except Exception as error:  # whatever fails, torch's own kernels remain
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        warnings.warn(
            f"fused kernels could not be compiled ({reason}); training and scoring use torch's "
            "own, which are slower; check that a C compiler such as gcc is installed",
            stacklevel=2,
        )
        return False
    return True


def load_kernels() -> Any:
    """Return the module of kernels, imported lazily because it needs Triton."""
    from axonad.fast.gpu import kernels

    return kernels


def _shared_memory(device: torch.device) -> int:
    """Return the bytes of shared memory that one thread block may use."""
    properties = torch.cuda.get_device_properties(device)
    return getattr(properties, "shared_memory_per_block_optin", 0)


def attention(qkv: Tensor, heads: int) -> Tensor:
    """Return the attention context (..., T, D) of concatenated q, k and v (..., T, 3 D)."""
    context: Tensor = _Attention.apply(qkv, heads)  # type: ignore[no-untyped-call]
    return context


def add_norm(x: Tensor, added: Tensor, gain: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Return x (M, R, D) plus ``added`` (M, P, D) repeated R / P times, and its layer norm."""
    total, normed, _ = _AddNorm.apply(  # type: ignore[no-untyped-call]
        x, added.contiguous(), gain.contiguous(), bias.contiguous()
    )
    return total, normed


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv: Tensor, heads: int) -> Tensor:
        ctx.save_for_backward(qkv)
        ctx.heads = heads
        context: Tensor = load_kernels().attention(qkv, heads)
        return context

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (qkv,) = ctx.saved_tensors
        return load_kernels().attention_gradient(qkv, grad.contiguous(), ctx.heads), None


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, added: Tensor, gain: Tensor, bias: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        total, normed, moments = load_kernels().add_norm(x, added, gain, bias, EPS)
        ctx.save_for_backward(total, gain, moments)
        ctx.period = added.shape[1]
        ctx.mark_non_differentiable(moments)
        return total, normed, moments

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        total, gain, moments = ctx.saved_tensors
        for_total, for_normed = (grad.contiguous() for grad in grads[:2])
        back, for_gain, for_bias = load_kernels().add_norm_gradient(
            total, for_total, for_normed, gain, moments
        )
        models, rows, width = back.shape
        again = back.view(models, rows // ctx.period, ctx.period, width)
        for_added = back if rows == ctx.period else again.sum(1)
        return back, for_added, for_gain, for_bias
