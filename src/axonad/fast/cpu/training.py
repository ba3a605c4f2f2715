"""A training step on the CPU: queries of the masked block only, gradients split across cores.

Reference: ``plain_step`` in ``train/loop.py``, which computes the queries of the whole tail. With
one masked block per window, the other queries do not enter the loss. The predictor is implemented
separately here because the block begins at another step in each window, and because three matrix
products with time as the first axis are faster than the convolution and its gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.functional import embedding, linear, relu

from axonad.model.config import KERNEL
from axonad.model.embedding import split_heads
from axonad.model.loss import WeightedLoss
from axonad.model.net import AxonNet, Output
from axonad.model.predictor import QueryPredictor
from axonad.model.target import MomentumTarget
from axonad.torch_runtime.threads import share_out
from axonad.torch_runtime.windows import gather_windows
from axonad.train.loop import Step, TrainConfig, plain_step, update
from axonad.train.mask import draw_blocks

SHARE = 32  # windows per work item: their activations fit into a core's cache


def block_step(
    net: AxonNet,
    loss: WeightedLoss,
    optimiser: torch.optim.Optimizer,
    series: Tensor,
    config: TrainConfig,
) -> Step:
    """Return the step for masks of one block; for other masks, the plain step.

    A block must also leave room before it for all steps that the predictor sees.
    """
    window, seen = net.config.window, net.config.reach + net.config.horizon
    plan = config.mask_plan(window=window, horizon=net.config.horizon)
    if plan.blocks > 1 or seen > window - plan.tail:
        return plain_step(net, loss, optimiser, series, config)
    weights = [p for group in optimiser.param_groups for p in group["params"]]

    def step(starts: Tensor) -> None:
        begins = draw_blocks(len(starts), window=window, plan=plan, device=series.device).view(-1)
        found = block_gradients(net, loss, weights, series, starts, begins, plan.span)
        for weight, gradient in zip(weights, found, strict=True):
            weight.grad = gradient
        update(net, optimiser)

    return step


def block_gradients(
    net: AxonNet,
    loss: WeightedLoss,
    weights: Sequence[Tensor],
    series: Tensor,
    starts: Tensor,
    begins: Tensor,
    span: int,
) -> list[Tensor]:
    """Return the gradient of the loss of the windows that begin at ``starts`` (B,).

    In each window the ``span`` steps from ``begins`` (B,) on are masked. The batch is
    split into parts of ``SHARE`` windows, weighted by size because the loss is a mean. Each part
    draws dropout from its own generator and the gradients are added in order, so the sum does not
    depend on the number of threads.
    """
    parts = list(zip(torch.split(starts, SHARE), torch.split(begins, SHARE), strict=True))
    seeds = torch.randint(2**62, (len(parts),)).tolist()
    found: list[Sequence[Tensor]] = [()] * len(parts)

    def work(items: Iterator[int]) -> None:
        for item in items:
            part, begin = parts[item]
            x = gather_windows(series, part, net.config.window)
            generator = torch.Generator().manual_seed(seeds[item])
            output = forward_blocks(net, x, begin, span, generator)
            value = loss(output, x, x.new_ones(len(x), span)) * (len(x) / len(starts))
            found[item] = torch.autograd.grad(value, weights)

    share_out(range(len(parts)), work)
    first, *others = found
    for other in others:
        torch._foreach_add_(list(first), list(other))
    # The fused optimiser ignores strides: a gradient must have the memory layout of its weight.
    return [gradient.contiguous() for gradient in first]


def forward_blocks(
    net: AxonNet,
    x: Tensor,
    begins: Tensor,
    span: int,
    generator: torch.Generator | None = None,
) -> Output:
    """Return the network's output, with the queries of ``span`` steps from each ``begins`` (B,)."""
    h, H, q = net.online(x)
    predicted = predict_blocks(net.predictor, H, begins, span, generator)
    h = h + net.attention(q, H)
    z = relu(net.widen(net.norm(h)))
    # Narrow and head as one product: channels are fewer than the width, so it is the smaller one.
    both = net.head.weight @ net.narrow.weight
    bias = net.head.weight @ net.narrow.bias + net.head.bias
    reconstruction = linear(h, net.head.weight, bias) + linear(z, both)
    return Output(reconstruction, predicted, _target_blocks(net.target, x, begins, span))


def predict_blocks(
    predictor: QueryPredictor,
    H: Tensor,
    begins: Tensor,
    span: int,
    generator: torch.Generator | None,
) -> Tensor:
    """Return predicted queries (B, N, span, d), with dropout from the generator while training."""
    batch, window, width = H.shape
    config = predictor.config
    steps = torch.arange(span + config.reach, device=H.device)[:, None]
    first = begins - config.reach - config.horizon
    rows = steps + first + window * torch.arange(batch, device=H.device)
    z = embedding(rows, H.flatten(0, 1))  # indexing whose gradient is fast for whole rows
    for convolution, dilation in zip(predictor.convolutions, config.dilations, strict=True):
        count = len(z) - (KERNEL - 1) * dilation
        y: Tensor = convolution.get_parameter("bias")
        for tap, weight in enumerate(convolution.get_parameter("weight").permute(2, 1, 0)):
            y = torch.addmm(y, z[tap * dilation :][:count].flatten(0, 1), weight)
        z = relu(y)
        if predictor.training and config.dropout:
            kept = torch.rand(y.shape, generator=generator, device=y.device) >= config.dropout
            z = z * (kept.to(y.dtype) / (1 - config.dropout))
        z = z.view(count, batch, width)
    z = linear(z, predictor.out.weight.squeeze(2), predictor.out.bias)
    return z.view(span, batch, config.heads, -1).permute(1, 2, 0, 3)


@torch.no_grad()
def _target_blocks(target: MomentumTarget, x: Tensor, begins: Tensor, span: int) -> Tensor:
    """Return target queries (B, N, span, d) of the same steps."""
    encoder = target.encoder
    steps = begins[:, None] + torch.arange(span, device=x.device)
    rows = steps + x.shape[1] * torch.arange(len(x), device=x.device)[:, None]
    h = encoder.embed(x.flatten(0, 1)[rows]) + encoder.position[steps]
    return split_heads(encoder.query(encoder.norm(h)), encoder.heads)
