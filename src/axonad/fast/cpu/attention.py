"""Attention over windows of known rows."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.folding import fold, slide, slide_down
from axonad.model.net import AxonNet

SAFE = 2.0**64  # sums of weights that neither overflow nor lose what matters
AT_ONCE = 16  # heads whose weights stay in a core's cache


class Heads:
    """Queries, keys and values of all heads at once, looked up by row and step, then attention."""

    def __init__(self, net: AxonNet, like: Tensor) -> None:
        heads, width = net.config.heads, net.config.d_model
        query = net.online.query.weight * math.log2(math.e) / math.sqrt(width // heads)
        matrix = torch.cat([query, net.attention.key.weight, net.attention.value.weight])
        folded = fold(net.online, matrix)
        self.rows, steps = (  # (3N, F, d) and (3N, T, d)
            part.view(len(part), 3 * heads, -1).transpose(0, 1).to(like).contiguous()
            for part in (folded.weight, folded.steps)
        )
        self._steps = steps[:, None]
        # A constant on every key leaves the softmax as it is, one on every value comes through it.
        self._query = folded.constant[:width].view(heads, 1, 1, -1).to(like)
        self.value = folded.constant[-width:]

    def __call__(
        self, rows: Tensor, inverse: Tensor, *, first: int, buffers: Buffers, out: Tensor
    ) -> None:
        """Write the context (B, T, N, d) without ``value`` to ``out``; rows hold x · ``rows``."""
        joined, _, window, width = self._steps.shape
        count = len(out)
        scale = slide_down(inverse, first=first, step=0, windows=count, steps=window)
        parts = buffers("heads", joined, count, window, width)
        seen = slide(rows, first=first, windows=count, steps=window)
        torch.add(seen, self._steps, out=parts).mul_(scale.expand(-1, -1, width).contiguous())
        q, k, v = parts.chunk(3)
        attend(q.add_(self._query), k, v, buffers=buffers, out=out.permute(2, 0, 1, 3))


def attend(q: Tensor, k: Tensor, v: Tensor, *, buffers: Buffers, out: Tensor) -> None:
    """Write softmax(q kᵀ, base 2) v into ``out``, all (N, B, T, d).

    On a processor powers of two, without the row's maximum taken off first, are several times
    faster than a softmax; where the logits are too large for that, it is done the safe way.
    """
    if q.device.type != "cpu":
        out.copy_(scaled_dot_product_attention(q, k, v, scale=math.log(2)))
        return
    q, k, values = (part.flatten(0, 1) for part in (q, k, v))
    context = buffers("context", *values.shape)
    total = buffers("total", *context.shape[:2], 1)
    _weigh(q, k, values, context, total, buffers, safe=False)
    low, high = total.aminmax()
    if not (low > 1 / SAFE and high < SAFE):
        _weigh(q, k, values, context, total, buffers, safe=True)
    out.copy_(context.div_(total).view_as(v))


def _weigh(
    q: Tensor, k: Tensor, v: Tensor, context: Tensor, total: Tensor, buffers: Buffers, *, safe: bool
) -> None:
    """Write the sums of values by weight, and of weights, a few heads at a time: (heads, T, .)."""
    steps = q.shape[1]
    for first in range(0, len(q), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        weights = buffers("weights", len(q[part]), steps, steps)
        torch.bmm(q[part], k[part].transpose(1, 2), out=weights)
        if safe:
            weights.sub_(weights.amax(-1, keepdim=True))
        torch.sum(weights.exp2_(), -1, keepdim=True, out=total[part])
        torch.bmm(weights, v[part], out=context[part])
