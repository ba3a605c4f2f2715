"""Layers of a stack of models: one kernel launch per operation, gradients written out.

All tensors have a leading axis M, the models. The gradients equal those of autograd but take fewer
and larger operations: sums over rows are matrix products, each tap of a convolution is a product
with a slice, and what can be recomputed from the output is not saved.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.linalg import vector_norm
from torch.nn.functional import layer_norm, pad, scaled_dot_product_attention

from axonad.fast.gpu import fused
from axonad.model.config import KERNEL

MIN_NORM = 1e-12  # lower bound of a query's norm, as in the plain loss


def affine(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return x (M, ..., I) times the transposed weight (M, O, I) plus bias (M, O), per model."""
    product: Tensor = _Affine.apply(x.flatten(1, -2), weight, bias)  # type: ignore[no-untyped-call]
    return product.view(*x.shape[:-1], -1)


def normalise(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """Return the layer norm of x (M, ..., D) with each model's gain and bias (M, D)."""
    if len(x) == 1 and not torch.is_grad_enabled():
        return layer_norm(x, x.shape[-1:], gain[0], bias[0])  # one kernel, but a slow gradient
    flat = layer_norm(x, x.shape[-1:]).flatten(1, -2)
    scaled: Tensor = _Scale.apply(flat, gain, bias)  # type: ignore[no-untyped-call]
    return scaled.view(x.shape)


def add_norm(
    x: Tensor, added: Tensor, gain: Tensor, bias: Tensor, *, by_kernel: bool
) -> tuple[Tensor, Tensor]:
    """Return x (M, B, T, D) plus ``added`` (M, [B,] T, D), and the layer norm of the sum."""
    if by_kernel:
        parts = fused.add_norm(x.flatten(1, 2), added.flatten(1, -2), gain, bias)
        return parts[0].view(x.shape), parts[1].view(x.shape)
    total = x + (added if added.dim() == x.dim() else added[:, None])
    return total, normalise(total, gain, bias)


def attend(qkv: Tensor, heads: int, dtype: torch.dtype, *, by_kernel: bool = False) -> Tensor:
    """Return the context (M, B, T, D) of concatenated queries, keys and values (M, B, T, 3 D).

    Attention itself is computed in ``dtype``.
    """
    if by_kernel:
        return fused.attention(qkv.to(dtype), heads).to(qkv.dtype)
    shape = *qkv.shape[:3], qkv.shape[3] // 3
    split = qkv.to(dtype).view(shape[0] * shape[1], shape[2], 3, heads, -1)
    q, k, v = split.permute(2, 0, 3, 1, 4)  # each (M B, N, T, d)
    context = scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(shape)
    return context.to(qkv.dtype)


def row_indices(begins: Tensor, steps: int, window: int) -> Tensor:
    """Return the indices (M, steps, B) of ``steps`` rows of each window from ``begins`` (M, B) on.

    They index the rows of all windows of all models, flattened: see :func:`select_rows`.
    """
    first = torch.arange(0, begins.numel() * window, window, device=begins.device)
    each = torch.arange(steps, device=begins.device)
    return (begins + first.view_as(begins))[:, None] + each[:, None]


def select_rows(z: Tensor, indices: Tensor) -> Tensor:
    """Return rows of z (..., D) by their index in ``z.flatten(0, -2)``; no index may repeat."""
    out: Tensor = _SelectRows.apply(z, indices)  # type: ignore[no-untyped-call]
    return out


def mean_cosine(q: Tensor, target: Tensor, heads: int) -> Tensor:
    """Return the cosine of q and ``target`` (..., D), averaged over heads; gradient for q only."""
    shape = *q.shape[:-1], heads, -1
    found: Tensor = _Cosine.apply(q.view(shape), target.view(shape))  # type: ignore[no-untyped-call]
    return found.mean((-2, -1))


def convolve(
    z: Tensor, taps: Tensor, bias: Tensor, dilation: int, mask: Tensor | None, factor: float
) -> Tensor:
    """Return convolution, ReLU and dropout of z (M, T, B, D), without padding.

    ``taps`` is (M, kernel, in, out). ``mask``, of the result's shape, is the dropout mask, whose
    values are 0 and ``factor``.
    """
    out: Tensor = _Convolve.apply(z, taps, bias, dilation, mask, factor)  # type: ignore[no-untyped-call]
    return out


def pad_start(z: Tensor, steps: int) -> Tensor:
    """Return z (M, T, B, D) with ``steps`` steps of zeros prepended."""
    return pad(z, (0, 0, 0, 0, steps, 0))


def sum_rows(x: Tensor) -> Tensor:
    """Return the sum (M, D) over rows of x (M, R, D), as a product, which is faster."""
    ones = _ones(x.shape[1], x.dtype, x.device).expand(len(x), 1, -1)
    return torch.bmm(ones, x)[:, 0]


@lru_cache(maxsize=64)
def _ones(size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return a cached vector of ones, allocated before a CUDA graph is recorded."""
    with torch.inference_mode(False):
        return torch.ones(size, dtype=dtype, device=device)


class _Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        product = weight.transpose(1, 2)
        return x @ product if bias is None else _add_product(bias, x, product)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        needs_x, _, needs_bias = ctx.needs_input_grad
        grad_weight = g.transpose(1, 2) @ x
        return g @ weight if needs_x else None, grad_weight, sum_rows(g) if needs_bias else None


class _Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, gain)
        return torch.addcmul(bias[:, None], x, gain[:, None])

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, gain = ctx.saved_tensors
        return g * gain[:, None], sum_rows(g * x), sum_rows(g)


class _SelectRows(torch.autograd.Function):
    """As no index repeats, the gradient is copied to its rows instead of accumulated."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, indices: Tensor) -> Tensor:
        ctx.save_for_backward(indices)
        ctx.shape = z.shape
        rows = z.flatten(0, -2).index_select(0, indices.flatten())
        return rows.view(*indices.shape, -1)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (indices,) = ctx.saved_tensors
        grad = g.new_zeros(ctx.shape)
        grad.flatten(0, -2).index_copy_(0, indices.flatten(), g.flatten(0, -2))
        return grad, None


class _Cosine(torch.autograd.Function):
    """Cosine over the last axis, kept with size 1; gradient for the first argument only."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, target: Tensor) -> Tensor:
        length = vector_norm(q, dim=-1, keepdim=True).clamp_min_(MIN_NORM)
        lengths = length * vector_norm(target, dim=-1, keepdim=True).clamp_min_(MIN_NORM)
        found: Tensor = (q * target).sum(-1, keepdim=True) / lengths
        ctx.save_for_backward(q, target, length, lengths, found)
        return found

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        q, target, length, lengths, found = ctx.saved_tensors
        along = q * (g * found / length.square())
        return torch.addcmul(-along, target, g / lengths), None


class _Convolve(torch.autograd.Function):
    """The output is zero exactly where ReLU or dropout stop the gradient, so no mask is saved."""

    @staticmethod
    def forward(
        ctx: Any,
        z: Tensor,
        taps: Tensor,
        bias: Tensor,
        dilation: int,
        mask: Tensor | None,
        factor: float,
    ) -> Tensor:
        inputs = _tap_inputs(z, dilation)
        out = _add_product(bias, inputs[0].flatten(1, 2), taps[:, 0])
        for tap, part in enumerate(inputs[1:], start=1):
            out.baddbmm_(part.flatten(1, 2), taps[:, tap])
        out = out.view_as(inputs[0])
        out.clamp_min_(0)
        if mask is not None:
            out.mul_(mask)
        ctx.save_for_backward(z, taps, out)
        ctx.dilation, ctx.factor = dilation, factor
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        z, taps, out = ctx.saved_tensors
        g = torch.ops.aten.threshold_backward(grad, out, 0).flatten(1, 2)
        grad_z, grad_taps = torch.empty_like(z), torch.empty_like(taps)
        grad_z[:, out.shape[1] :] = 0
        for tap, (part, place) in enumerate(
            zip(_tap_inputs(z, ctx.dilation), _tap_inputs(grad_z, ctx.dilation), strict=True)
        ):
            back, rows = taps[:, tap].transpose(1, 2), part.flatten(1, 2).transpose(1, 2)
            place.flatten(1, 2).baddbmm_(g, back, beta=1 if tap else 0, alpha=ctx.factor)
            grad_taps[:, tap].baddbmm_(rows, g, beta=0, alpha=ctx.factor)
        return grad_z, grad_taps, sum_rows(g) * ctx.factor, None, None, None


def _add_product(bias: Tensor, x: Tensor, product: Tensor) -> Tensor:
    """Return bias (M, O) + x (M, R, I) @ product (M, I, O); addmm is faster for a single model."""
    if len(x) == 1:
        return torch.addmm(bias[0], x[0], product[0])[None]
    return torch.baddbmm(bias[:, None], x, product)


def _tap_inputs(z: Tensor, dilation: int) -> list[Tensor]:
    """Return each tap's view of z (M, T, B, D)."""
    count = z.shape[1] - (KERNEL - 1) * dilation
    return [z[:, tap * dilation : tap * dilation + count] for tap in range(KERNEL)]
