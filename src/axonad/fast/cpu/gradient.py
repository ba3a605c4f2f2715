"""The gradient of a batch on a processor: computed in shares, one core each, and added up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from axonad.model.loss import WeightedLoss
from axonad.model.net import AxonNet
from axonad.torch_runtime.threads import share_out
from axonad.torch_runtime.windows import gather_windows

SHARE = 32  # windows: what they need stays in a core's cache


def block_gradients(
    net: AxonNet,
    loss: WeightedLoss,
    weights: Sequence[Tensor],
    series: Tensor,
    starts: Tensor,
    begins: Tensor,
    span: int,
) -> list[Tensor]:
    """Return the gradient of the loss of a batch whose windows begin at ``starts`` (B,).

    Of each window the ``span`` steps from ``begins`` (B,) on are masked. The loss is a mean over
    windows, so shares count by their size. Each draws dropout from a generator of its own, and
    they are added in order: the sum does not depend on who computed what.
    """
    parts = list(zip(torch.split(starts, SHARE), torch.split(begins, SHARE), strict=True))
    seeds = torch.randint(2**62, (len(parts),)).tolist()
    found: list[Sequence[Tensor]] = [()] * len(parts)

    def work(items: Iterator[int]) -> None:
        for item in items:
            part, begin = parts[item]
            x = gather_windows(series, part, net.config.window)
            generator = torch.Generator().manual_seed(seeds[item])
            output = net.at_blocks(x, begin, span, generator)
            value = loss(output, x, x.new_ones(len(x), span)) * (len(x) / len(starts))
            found[item] = torch.autograd.grad(value, weights)

    share_out(range(len(parts)), work)
    first, *others = found
    for other in others:
        torch._foreach_add_(list(first), list(other))
    # The fused optimiser goes through memory, so a gradient must lie in it as its weight does.
    return [gradient.contiguous() for gradient in first]
