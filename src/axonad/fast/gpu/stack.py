"""The network and loss of a stack of M models of one shape, one kernel launch per operation.

Reference: ``AxonNet`` and ``WeightedLoss``, with which the tests compare every output and gradient.
The symbols are those of :mod:`axonad.model` with a leading axis M; the weights are rows of one
matrix (``layout.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import relu

from axonad.fast.gpu.layers import (
    add_norm,
    affine,
    attend,
    convolve,
    mean_cosine,
    normalise,
    pad_start,
    row_indices,
    select_rows,
)
from axonad.fast.gpu.layout import LOSS, Layout, Weights
from axonad.model.config import KERNEL, NetConfig
from axonad.train.mask import MaskPlan

LayerMasks = Sequence[Tensor]  # dropout masks (M, steps, B, D) of each layer; empty: no dropout

QKV = ("online.query.weight", "attention.key.weight", "attention.value.weight")


def linear(x: Tensor, w: Weights, name: str) -> Tensor:
    """Return the output of the linear layer ``name`` for x (M, ..., I)."""
    return affine(x, w[f"{name}.weight"], w.get(f"{name}.bias"))


def norm(x: Tensor, w: Weights, name: str) -> Tensor:
    """Return the output of the layer norm ``name`` for x (M, B, T, D)."""
    return normalise(x, w[f"{name}.weight"], w[f"{name}.bias"])


def encode(x: Tensor, w: Weights, *, fused: bool = False) -> tuple[Tensor, Tensor]:
    """Return h and H of windows (M, B, T, F), each (M, B, T, D)."""
    gain, bias = w["online.norm.weight"], w["online.norm.bias"]
    return add_norm(linear(x, w, "online.embed"), w["online.position"], gain, bias, by_kernel=fused)


def decode(
    h: Tensor, H: Tensor, w: Weights, heads: int, attention: torch.dtype, *, fused: bool = False
) -> Tensor:
    """Return the reconstruction (M, B, T, F); ``attention`` is the dtype of the attention."""
    qkv = affine(H, torch.cat([w[name] for name in QKV], dim=1), None)
    context = linear(attend(qkv, heads, attention, by_kernel=fused), w, "attention.out")
    h, normed = add_norm(context, h, w["norm.weight"], w["norm.bias"], by_kernel=fused)
    wide = relu(linear(normed, w, "widen"))
    head, bias = w["head.weight"], w["head.bias"]
    if head.shape[1] > head.shape[2]:  # more channels than width: the joined matrix would be larger
        return linear(h + linear(wide, w, "narrow"), w, "head")
    bias = torch.baddbmm(bias[..., None], head, w["narrow.bias"][..., None])[..., 0]
    out = affine(h, head, bias).flatten(1, 2)
    joined = head @ w["narrow.weight"]  # narrow and head are both linear
    return torch.baddbmm(out, wide.flatten(1, 2), joined.transpose(1, 2)).view(*h.shape[:3], -1)


def predict(z: Tensor, w: Weights, config: NetConfig, steps: int, masks: LayerMasks) -> Tensor:
    """Return the predicted queries (M, steps, B, D) of the last ``steps`` steps.

    ``z`` (M, T, B, D) is H shifted by the horizon, time first. Where it is shorter than the
    predictor's receptive field, every layer's input is padded with zeros.
    """
    factor = 1 / (1 - config.dropout) if masks else 1.0
    counts = config.layer_steps(steps)
    for layer, (dilation, count) in enumerate(zip(config.dilations, counts, strict=True)):
        name = f"predictor.convolutions.{layer}"
        short = count + (KERNEL - 1) * dilation - z.shape[1]
        z = pad_start(z, short) if short else z
        mask = masks[layer] if masks else None
        taps = w[f"{name}.weight"].transpose(1, 3)
        z = convolve(z, taps, w[f"{name}.bias"], dilation, mask, factor)
    return affine(z, w["predictor.out.weight"][..., 0], w["predictor.out.bias"])


def predicted_steps(config: NetConfig, plan: MaskPlan) -> tuple[int, bool]:
    """Return how many steps of a window are predicted in training, and whether they are its block.

    They are the masked block if there is one per window and the predictor's receptive field fits
    before it; otherwise they are the tail that contains all blocks.
    """
    fits = config.reach + config.horizon <= config.window - plan.tail
    return (plan.span, True) if plan.blocks == 1 and fits else (plan.tail, False)


def seen_by_predictor(H: Tensor, config: NetConfig, steps: int) -> Tensor:
    """Return the part of H that predictions of the last steps depend on: ``z`` of ``predict``."""
    count = min(config.window, steps + config.reach)
    end = config.window - config.horizon
    past = H[:, :, max(0, end - count) : end].transpose(1, 2).contiguous()
    return pad_start(past, count - past.shape[1]) if past.shape[1] < count else past


class Batch(NamedTuple):
    """Windows of every model; windows that pad a short batch have share and mask 0."""

    x: Tensor  # windows (M, B, T, F)
    begins: Tensor | None  # first step to predict of each window (M, B); None: predict the last
    mask: Tensor  # 1 on predicted steps that count in the loss, else 0 (M, steps, B)
    share: Tensor  # weight of each window in its model's mean error (M, B)


class Precision(NamedTuple):
    """The dtypes of the parts that may compute in lower precision than the weights."""

    attention: torch.dtype
    queries: torch.dtype


def losses(
    batch: Batch,
    rows: Tensor,
    target: Tensor,
    layout: Layout,
    masks: LayerMasks = (),
    precision: Precision | None = None,
    *,
    fused: bool = False,
) -> Tensor:
    """Return each model's loss (M,): ``WeightedLoss`` of ``AxonNet`` on its own windows.

    ``rows`` (M, P) and ``target`` (M, Q) are the weights in ``layout``. ``fused`` selects the
    kernels of ``fused.py``.
    """
    config, steps, exact = layout.config, batch.mask.shape[1], rows.dtype
    attention, queries = precision or Precision(exact, exact)
    w, predictor, loss = layout.groups(rows, queries)
    h, H = encode(batch.x, w, fused=fused)
    found = decode(h, H, w, config.heads, attention, fused=fused)
    error = (found - batch.x).square().mean((2, 3))

    seen, x, position = predictor_inputs(batch, H, target, layout)
    predicted = predict(seen.to(queries), predictor, config, steps, masks)
    wanted = target_queries(x, position, layout.weights(target.to(queries)))
    distance = 1 - mean_cosine(predicted.to(exact), wanted.to(exact), config.heads)  # (M, steps, B)

    query = (distance * batch.mask).sum((1, 2)) / batch.mask.sum((1, 2))
    parts = torch.stack([(error * batch.share).sum(1), query], dim=1)
    return ((-loss[LOSS]).exp() * parts + loss[LOSS]).sum(1)


def predictor_inputs(
    batch: Batch, H: Tensor, target: Tensor, layout: Layout
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the predictor's input, and rows and target positions of the steps to predict.

    All are time first: (M, T, B, D), (M, steps, B, F) and (M, steps, B or 1, D).
    """
    config, steps = layout.config, batch.mask.shape[1]
    position = layout.weights(target)["online.position"]  # (M, T, D)
    if batch.begins is None:
        last = slice(config.window - steps, None)
        x = batch.x[:, :, last].transpose(1, 2)
        return seen_by_predictor(H, config, steps), x, position[:, last, None]
    before = config.reach + config.horizon
    indices = row_indices(batch.begins - before, before + steps, config.window)  # (M, T, B)
    seen = select_rows(H, indices[:, : config.reach + steps])
    x = select_rows(batch.x, indices[:, before:])
    models = torch.arange(0, len(H) * config.window, config.window, device=H.device)[:, None]
    steps_of = batch.begins[:, None] + torch.arange(steps, device=H.device)[:, None]
    return seen, x, select_rows(position, steps_of + models[..., None])


@torch.no_grad()
def target_queries(x: Tensor, position: Tensor, w: Weights) -> Tensor:
    """Return the target's queries (M, steps, B, D) of rows (M, steps, B, F) at their positions."""
    dtype = w["online.query.weight"].dtype
    h = linear(x.to(dtype), w, "online.embed") + position.to(dtype)
    return linear(norm(h, w, "online.norm"), w, "online.query")


def window_errors(x: Tensor, w: Weights, config: NetConfig, *, fused: bool = False) -> Tensor:
    """Return the mean squared reconstruction error of each window (M, B)."""
    h, H = encode(x, w, fused=fused)
    found = decode(h, H, w, config.heads, x.dtype, fused=fused)
    return (found - x).square().mean((2, 3))
