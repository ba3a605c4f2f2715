"""Layers that a graphics card computes in one go (``kernels.py``), with their gradients."""

from __future__ import annotations

import warnings
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from axonad.model.config import NetConfig

WORTH = 200_000  # windows of a call from which on compiling, seconds once on a machine, pays
LONGEST = 128  # steps of a window that one program holds
WIDEST = 64  # units of a head that one program holds
SHARED = 150_000  # bytes of fast memory that a program may need: cards for gaming have less
EPS = 1e-5  # of a layer norm, torch's default


def can_fuse(config: NetConfig, device: torch.device, *, windows: int) -> bool:
    """Return whether so many windows of such a network are worth kernels of their own."""
    return (
        device.type == "cuda"
        and windows >= WORTH
        and config.window <= LONGEST
        and config.d_model // config.heads <= WIDEST
        and find_spec("triton") is not None
        and _fast_memory(device) >= SHARED
        and compiles(device)
    )


@lru_cache(maxsize=8)
def compiles(device: torch.device) -> bool:
    """Return whether kernels can be made here: Triton needs a compiler for C on the machine."""
    try:
        from axonad.fast.gpu import kernels

        row = torch.ones(1, 1, 16, device=device)
        kernels.add_norm(row, row, row[0], row[0], EPS)
    except Exception as error:  # whatever it is, torch's own kernels do
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        warnings.warn(
            f"fused kernels could not be compiled ({reason}); training and scoring use torch's "
            "own, which take longer; a C compiler such as gcc may be missing",
            stacklevel=2,
        )
        return False
    return True


def _fast_memory(device: torch.device) -> int:
    """Return how many bytes a program on the card may share."""
    properties = torch.cuda.get_device_properties(device)
    return getattr(properties, "shared_memory_per_block_optin", 0)


def attention(qkv: Tensor, heads: int) -> Tensor:
    """Return the context (..., T, D) of queries, keys and values side by side (..., T, 3 D)."""
    context: Tensor = _Attention.apply(qkv, heads)  # type: ignore[no-untyped-call]
    return context


def add_norm(x: Tensor, added: Tensor, gain: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Return x (M, R, D) plus ``added`` (M, P, D), again and again, and the layer norm of that."""
    total, normed, _ = _AddNorm.apply(  # type: ignore[no-untyped-call]
        x, added.contiguous(), gain.contiguous(), bias.contiguous()
    )
    return total, normed


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv: Tensor, heads: int) -> Tensor:
        from axonad.fast.gpu import kernels

        ctx.save_for_backward(qkv)
        ctx.heads = heads
        return kernels.attention(qkv, heads)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        from axonad.fast.gpu import kernels

        (qkv,) = ctx.saved_tensors
        return kernels.attention_gradient(qkv, grad.contiguous(), ctx.heads), None


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, added: Tensor, gain: Tensor, bias: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        from axonad.fast.gpu import kernels

        total, normed, moments = kernels.add_norm(x, added, gain, bias, EPS)
        ctx.save_for_backward(total, gain, moments)
        ctx.period = added.shape[1]
        ctx.mark_non_differentiable(moments)
        return total, normed, moments

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        from axonad.fast.gpu import kernels

        total, gain, moments = ctx.saved_tensors
        for_total, for_normed = (grad.contiguous() for grad in grads[:2])
        back, for_gain, for_bias = kernels.add_norm_gradient(
            total, for_total, for_normed, gain, moments
        )
        models, rows, width = back.shape
        again = back.view(models, rows // ctx.period, ctx.period, width)
        for_added = back if rows == ctx.period else again.sum(1)
        return back, for_added, for_gain, for_bias
