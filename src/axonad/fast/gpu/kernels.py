"""Fused Triton kernels that save passes over GPU memory.

Attention over short windows holds one head of one window in one program, forward and backward, and
reads q, k and v from the output of the product that computes them, without a copy. The layer norm
includes the addition before it, and its gradient takes one pass. Compiling takes seconds, once per
machine; ``fused.py`` decides when that is worthwhile; otherwise torch's own kernels are used.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,import-not-found,no-untyped-call"
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

NORM_ROWS = 16  # rows per program of the layer norm
NORM_BACK_ROWS = 32  # rows per program of its gradient
WEIGHTS = 1024  # weights per program of the optimiser


@triton.jit
def _weights(q, k, steps, scale, STEPS: tl.constexpr, PRECISION: tl.constexpr):
    """The attention weights of one head (STEPS, STEPS), in float32."""
    logits = tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale
    logits = tl.where((tl.arange(0, STEPS) < steps)[None, :], logits, float("-inf"))
    weights = tl.exp(logits - tl.max(logits, 1)[:, None])
    return weights / tl.sum(weights, 1)[:, None]


@triton.jit
def _head(steps, heads, size, STEPS: tl.constexpr, SIZE: tl.constexpr):
    """Rows and columns of this program's head and window, and the mask of valid ones."""
    window, head = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    t, d = tl.arange(0, STEPS)[:, None], tl.arange(0, SIZE)[None, :]
    return window * steps + t, head * size + d, (t < steps) & (d < size)


@triton.jit
def _read(at, inside, width):
    """Load q, k and v of a head."""
    q = tl.load(at, mask=inside, other=0.0)
    k = tl.load(at + width, mask=inside, other=0.0)
    return q, k, tl.load(at + 2 * width, mask=inside, other=0.0)


@triton.jit
def _attend(
    qkv, out, steps, heads, size, scale,
    STEPS: tl.constexpr, SIZE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The context of one head of one window."""
    row, column, inside = _head(steps, heads, size, STEPS, SIZE)
    width = heads * size
    q, k, v = _read(qkv + row * 3 * width + column, inside, width)
    p = _weights(q, k, steps, scale, STEPS, PRECISION)
    context = tl.dot(p.to(v.dtype), v, input_precision=PRECISION)
    tl.store(out + row * width + column, context.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _attend_back(
    qkv, grad, out, steps, heads, size, scale,
    STEPS: tl.constexpr, SIZE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradients of queries, keys and values of one head of one window."""
    row, column, inside = _head(steps, heads, size, STEPS, SIZE)
    width = heads * size
    here = row * 3 * width + column
    q, k, v = _read(qkv + here, inside, width)
    g = tl.load(grad + row * width + column, mask=inside, other=0.0)
    p = _weights(q, k, steps, scale, STEPS, PRECISION)
    dtype = out.dtype.element_ty
    dv = tl.dot(tl.trans(p).to(g.dtype), g, input_precision=PRECISION)
    tl.store(out + here + 2 * width, dv.to(dtype), mask=inside)
    dp = tl.dot(g, tl.trans(v), input_precision=PRECISION)
    ds = (p * (dp - tl.sum(p * dp, 1)[:, None]) * scale).to(g.dtype)
    dq = tl.dot(ds, k, input_precision=PRECISION)
    tl.store(out + here, dq.to(dtype), mask=inside)
    dk = tl.dot(tl.trans(ds), q, input_precision=PRECISION)
    tl.store(out + here + width, dk.to(dtype), mask=inside)


@triton.jit
def _add_norm(
    x, added, gain, bias, total, out, moments, rows, period, width, eps,
    ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Add ``added``, which repeats, to some rows of one model, and normalise the sum."""
    model = tl.program_id(1).to(tl.int64)
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, WIDTH)
    inside = (r < rows)[:, None] & (d < width)[None, :]
    at = (model * rows + r)[:, None] * width + d[None, :]
    other = (model * period + r % period)[:, None] * width + d[None, :]
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    value += tl.load(added + other, mask=inside, other=0.0).to(tl.float32)
    tl.store(total + at, value.to(total.dtype.element_ty), mask=inside)
    mean = tl.sum(value, 1) / width
    centred = tl.where(inside, value - mean[:, None], 0.0)
    spread = 1 / tl.sqrt(tl.sum(centred * centred, 1) / width + eps)
    scale = tl.load(gain + model * width + d, mask=d < width, other=0.0).to(tl.float32)
    shift = tl.load(bias + model * width + d, mask=d < width, other=0.0).to(tl.float32)
    normed = centred * spread[:, None] * scale[None, :] + shift[None, :]
    tl.store(out + at, normed.to(out.dtype.element_ty), mask=inside)
    tl.store(moments + (model * rows + r) * 2, mean, mask=r < rows)
    tl.store(moments + (model * rows + r) * 2 + 1, spread, mask=r < rows)


@triton.jit
def _add_norm_back(
    total, grad_total, grad_out, gain, moments, out, sums, rows, width,
    ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """The gradient of the sum for some rows, and their partial sums for gain and bias."""
    model, part = tl.program_id(1).to(tl.int64), tl.program_id(0)
    r = part * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, WIDTH)
    inside = (r < rows)[:, None] & (d < width)[None, :]
    at = (model * rows + r)[:, None] * width + d[None, :]
    mean = tl.load(moments + (model * rows + r) * 2, mask=r < rows, other=0.0)
    spread = tl.load(moments + (model * rows + r) * 2 + 1, mask=r < rows, other=0.0)
    value = tl.load(total + at, mask=inside, other=0.0)
    normed = tl.where(inside, (value - mean[:, None]) * spread[:, None], 0.0)
    g = tl.load(grad_out + at, mask=inside, other=0.0)
    to = sums + ((model * 2) * tl.num_programs(0) + part) * width + d
    tl.store(to, tl.sum(g * normed, 0), mask=d < width)
    tl.store(to + tl.num_programs(0) * width, tl.sum(g, 0), mask=d < width)
    g = g * tl.load(gain + model * width + d, mask=d < width, other=0.0)[None, :]
    centre, slope = tl.sum(g, 1) / width, tl.sum(g * normed, 1) / width
    back = (g - centre[:, None] - normed * slope[:, None]) * spread[:, None]
    back += tl.load(grad_total + at, mask=inside, other=0.0)
    tl.store(out + at, back, mask=inside)


@triton.jit
def _adamw(
    rows, target, grad, norms, firsts, seconds, powers, size, encoder,
    lr, decay, beta1, beta2, eps, clip, ema, BLOCK: tl.constexpr,
):  # fmt: skip
    """Clip the gradient of some weights of one model, make the AdamW step, move the target."""
    model, i = tl.program_id(1).to(tl.int64), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside, at = i < size, model * size + i
    g = tl.load(grad + at, mask=inside, other=0.0)
    g *= tl.minimum(clip / (tl.load(norms + model) + 1e-6), 1.0)
    first = tl.load(firsts + at, mask=inside, other=0.0)
    second = tl.load(seconds + at, mask=inside, other=0.0)
    first += (g - first) * (1 - beta1)
    second = second * beta2 + g * g * (1 - beta2)
    tl.store(firsts + at, first, mask=inside)
    tl.store(seconds + at, second, mask=inside)
    # bias correction
    rest1, rest2 = (1 - tl.load(powers)).to(tl.float32), (1 - tl.load(powers + 1)).to(tl.float32)
    value = tl.load(rows + at, mask=inside, other=0.0) * (1 - lr * decay)
    value -= lr / rest1 * first / (tl.sqrt(second) / tl.sqrt(rest2) + eps)
    tl.store(rows + at, value, mask=inside)
    to = target + model * encoder + i
    slow = tl.load(to, mask=i < encoder, other=0.0)
    tl.store(to, slow + (value - slow) * (1 - ema), mask=i < encoder)


def adamw(
    rows: Tensor, target: Tensor, grad: Tensor, norms: Tensor, moments: Tensor, powers: Tensor, *,
    lr: float, decay: float, betas: tuple[float, float], eps: float, clip: float, ema: float,
) -> None:  # fmt: skip
    """Update weights (M, P), target encoders (M, Q) and moments (2, M, P) in place.

    ``powers`` is beta ** t of both betas, for the bias correction.
    """
    models, size = rows.shape
    _adamw[triton.cdiv(size, WEIGHTS), models](
        rows, target, grad, norms, *moments, powers, size, target.shape[1],
        lr, decay, *betas, eps, clip, ema, BLOCK=WEIGHTS, num_warps=4,
    )  # fmt: skip


def attention(qkv: Tensor, heads: int) -> Tensor:
    """Return the attention context (..., T, D) of concatenated q, k and v (..., T, 3 D)."""
    *windows, steps, width = qkv.shape
    out = qkv.new_empty(*windows, steps, width // 3)
    grid, sizes = _launch_sizes(qkv, heads)
    _attend[grid](qkv, out, *sizes, **_launch_options(qkv, heads))
    return out


def attention_gradient(qkv: Tensor, grad: Tensor, heads: int) -> Tensor:
    """Return the gradient of ``attention`` with respect to ``qkv``."""
    out = torch.empty_like(qkv)
    grid, sizes = _launch_sizes(qkv, heads)
    _attend_back[grid](qkv, grad, out, *sizes, **_launch_options(qkv, heads))
    return out


def add_norm(
    x: Tensor, added: Tensor, gain: Tensor, bias: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return x (M, R, D) + ``added`` (M, P, D) repeated, its layer norm, and mean and 1 / σ."""
    models, rows, width = x.shape
    total, out = torch.empty_like(x), torch.empty_like(x)
    moments = torch.empty(models, rows, 2, device=x.device)
    _add_norm[triton.cdiv(rows, NORM_ROWS), models](
        x, added, gain, bias, total, out, moments, rows, added.shape[1], width, eps,
        ROWS=NORM_ROWS, WIDTH=triton.next_power_of_2(width), num_warps=4,
    )  # fmt: skip
    return total, out, moments


def add_norm_gradient(
    total: Tensor, grad_total: Tensor, grad_out: Tensor, gain: Tensor, moments: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of ``add_norm`` for its sum (M, R, D), gain and bias (M, D)."""
    models, rows, width = total.shape
    parts = triton.cdiv(rows, NORM_BACK_ROWS)
    out, sums = torch.empty_like(total), total.new_empty(models, 2, parts, width)
    _add_norm_back[parts, models](
        total, grad_total, grad_out, gain, moments, out, sums, rows, width,
        ROWS=NORM_BACK_ROWS, WIDTH=triton.next_power_of_2(width), num_warps=4,
    )  # fmt: skip
    for_gain, for_bias = sums.sum(2).unbind(1)
    return out, for_gain, for_bias


def _launch_sizes(qkv: Tensor, heads: int) -> tuple[tuple[int], tuple[int, int, int, float]]:
    """Return the launch grid, and the arguments steps, heads, head size and scale."""
    steps, size = qkv.shape[-2], qkv.shape[-1] // 3 // heads
    return (qkv.numel() // (steps * qkv.shape[-1]) * heads,), (steps, heads, size, size**-0.5)


def _launch_options(qkv: Tensor, heads: int) -> dict[str, int | str]:
    """Return block sizes, number of warps and the precision of float32 products.

    Where torch uses full float32, ``tf32x3`` is close to it: three TF32 products each.
    """
    size = qkv.shape[-1] // 3 // heads
    exact = torch.get_float32_matmul_precision() == "highest"
    return {
        "STEPS": max(16, triton.next_power_of_2(qkv.shape[-2])),
        "SIZE": max(16, triton.next_power_of_2(size)),
        "PRECISION": "tf32x3" if exact else "tf32",
        "num_warps": 8 if qkv.dtype == torch.float32 else 4,
    }
