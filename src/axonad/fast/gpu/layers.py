"""Layers of many models at once: each operation one launch, each gradient written out.

Everything has a leading axis M; rows are whatever a layer does not mix. The gradients are those
autograd would find, from fewer and larger operations: sums over rows are matrix products, the
taps of a convolution are products of slices, and nothing is kept that the output tells as well.
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

SHORTEST = 1e-12  # of a query, as in the plain loss


def affine(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return x (M, ..., I) times each model's weight (M, O, I), plus its bias (M, O)."""
    product: Tensor = _Affine.apply(x.flatten(1, -2), weight, bias)  # type: ignore[no-untyped-call]
    return product.view(*x.shape[:-1], -1)


def scale(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """Return x (M, ..., D) in zero mean and unit variance, times gain, plus bias (M, D)."""
    if len(x) == 1 and not torch.is_grad_enabled():
        return layer_norm(x, x.shape[-1:], gain[0], bias[0])  # in one go; its gradient is slow
    flat = layer_norm(x, x.shape[-1:]).flatten(1, -2)
    scaled: Tensor = _Scale.apply(flat, gain, bias)  # type: ignore[no-untyped-call]
    return scaled.view(x.shape)


def add_norm(
    x: Tensor, added: Tensor, gain: Tensor, bias: Tensor, *, by_kernel: bool
) -> tuple[Tensor, Tensor]:
    """Return x (M, B, T, D) plus ``added`` (M, [B,] T, D), and the layer norm of that."""
    if by_kernel:
        parts = fused.add_norm(x.flatten(1, 2), added.flatten(1, -2), gain, bias)
        return parts[0].view(x.shape), parts[1].view(x.shape)
    total = x + (added if added.dim() == x.dim() else added[:, None])
    return total, scale(total, gain, bias)


def attend(qkv: Tensor, heads: int, dtype: torch.dtype, *, by_kernel: bool = False) -> Tensor:
    """Return the context (M, B, T, D) of queries, keys and values side by side (M, B, T, 3 D).

    ``dtype`` is what attention itself computes with.
    """
    if by_kernel:
        return fused.attention(qkv.to(dtype), heads).to(qkv.dtype)
    shape = *qkv.shape[:3], qkv.shape[3] // 3
    split = qkv.to(dtype).view(shape[0] * shape[1], shape[2], 3, heads, -1)
    q, k, v = split.permute(2, 0, 3, 1, 4)  # each (M B, N, T, d)
    context = scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(shape)
    return context.to(qkv.dtype)


def cuts(begins: Tensor, steps: int, window: int) -> Tensor:
    """Return where ``steps`` steps of each window lie, from its own begin (M, B) on.

    Rows are counted through all windows of all models; time comes first: (M, steps, B).
    """
    first = torch.arange(0, begins.numel() * window, window, device=begins.device)
    each = torch.arange(steps, device=begins.device)
    return (begins + first.view_as(begins))[:, None] + each[:, None]


def cut_out(z: Tensor, places: Tensor) -> Tensor:
    """Return those rows of z (..., D), counted through all its axes but the last."""
    out: Tensor = _CutOut.apply(z, places)  # type: ignore[no-untyped-call]
    return out


def cosine(q: Tensor, target: Tensor, heads: int) -> Tensor:
    """Return the cosine of queries (..., D) with others, averaged over heads; only q learns."""
    shape = *q.shape[:-1], heads, -1
    found: Tensor = _Cosine.apply(q.view(shape), target.view(shape))  # type: ignore[no-untyped-call]
    return found.mean((-2, -1))


def convolve(
    z: Tensor, taps: Tensor, bias: Tensor, dilation: int, keep: Tensor | None, factor: float
) -> Tensor:
    """Return convolution, ReLU and dropout of z (M, T, B, D) at the steps all taps reach.

    ``taps`` (M, kernel, in, out). ``keep``, of the result's shape, is what dropout multiplies it
    by: 0, or ``factor``.
    """
    out: Tensor = _Convolve.apply(z, taps, bias, dilation, keep, factor)  # type: ignore[no-untyped-call]
    return out


def with_zeros(z: Tensor, steps: int) -> Tensor:
    """Return z (M, T, B, D) with so many steps of zeros in front."""
    return pad(z, (0, 0, 0, 0, steps, 0))


def sum_rows(x: Tensor) -> Tensor:
    """Return the sum of rows (M, D) of x (M, R, D): a product, which runs faster than a sum."""
    ones = _ones(x.shape[1], x.dtype, x.device).expand(len(x), 1, -1)
    return torch.bmm(ones, x)[:, 0]


@lru_cache(maxsize=64)
def _ones(size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return ones, made once: a step begins with a few plain ones before it is recorded."""
    with torch.inference_mode(False):
        return torch.ones(size, dtype=dtype, device=device)


class _Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        product = weight.transpose(1, 2)
        return x @ product if bias is None else _plus_product(bias, x, product)

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


class _CutOut(torch.autograd.Function):
    """No step of a window is cut out twice, so its gradient is put back, not added up."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.shape = z.shape
        rows = z.flatten(0, -2).index_select(0, places.flatten())
        return rows.view(*places.shape, -1)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        grad = g.new_zeros(ctx.shape)
        grad.flatten(0, -2).index_copy_(0, places.flatten(), g.flatten(0, -2))
        return grad, None


class _Cosine(torch.autograd.Function):
    """Cosine over the last axis, kept; its gradient for the first argument."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, target: Tensor) -> Tensor:
        length = vector_norm(q, dim=-1, keepdim=True).clamp_min_(SHORTEST)
        lengths = length * vector_norm(target, dim=-1, keepdim=True).clamp_min_(SHORTEST)
        found: Tensor = (q * target).sum(-1, keepdim=True) / lengths
        ctx.save_for_backward(q, target, length, lengths, found)
        return found

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        q, target, length, lengths, found = ctx.saved_tensors
        along = q * (g * found / length.square())
        return torch.addcmul(-along, target, g / lengths), None


class _Convolve(torch.autograd.Function):
    """The output is zero exactly where ReLU or dropout stop the gradient: it is all they keep."""

    @staticmethod
    def forward(
        ctx: Any,
        z: Tensor,
        taps: Tensor,
        bias: Tensor,
        dilation: int,
        keep: Tensor | None,
        factor: float,
    ) -> Tensor:
        seen = _seen(z, dilation)
        out = _plus_product(bias, seen[0].flatten(1, 2), taps[:, 0])
        for tap, part in enumerate(seen[1:], start=1):
            out.baddbmm_(part.flatten(1, 2), taps[:, tap])
        out = out.view_as(seen[0])
        out.clamp_min_(0)
        if keep is not None:
            out.mul_(keep)
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
            zip(_seen(z, ctx.dilation), _seen(grad_z, ctx.dilation), strict=True)
        ):
            back, rows = taps[:, tap].transpose(1, 2), part.flatten(1, 2).transpose(1, 2)
            place.flatten(1, 2).baddbmm_(g, back, beta=1 if tap else 0, alpha=ctx.factor)
            grad_taps[:, tap].baddbmm_(rows, g, beta=0, alpha=ctx.factor)
        return grad_z, grad_taps, sum_rows(g) * ctx.factor, None, None, None


def _plus_product(bias: Tensor, x: Tensor, product: Tensor) -> Tensor:
    """Return bias (M, O) + x (M, R, I) times a matrix (M, I, O); of one model, in one pass."""
    if len(x) == 1:
        return torch.addmm(bias[0], x[0], product[0])[None]
    return torch.baddbmm(bias[:, None], x, product)


def _seen(z: Tensor, dilation: int) -> list[Tensor]:
    """Return what each tap sees of z (M, T, B, D), without a copy."""
    count = z.shape[1] - (KERNEL - 1) * dilation
    return [z[:, tap * dilation : tap * dilation + count] for tap in range(KERNEL)]
