"""One pass over live windows, with memory and views made beforehand.

A single window is so little arithmetic that finding memory and cutting tensors would take as long
as a fifth of it; here a step does nothing but compute. Legend of symbols: :mod:`axonad.model`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from axonad.fast.cpu.attention import SAFE
from axonad.model.embedding import split_heads
from axonad.model.net import Output
from axonad.model.predictor import KERNEL

if TYPE_CHECKING:
    from axonad.fast.cpu.live import LiveNet


class LivePass:
    """The outputs of B windows from what was kept of their rows.

    Write into ``every`` (B, T, C) and ``last`` (B, tail, C') what :class:`LiveNet` kept of the rows
    plus its ``places``, then call. ``rows`` (B, T, F) are the rows themselves. All of it is used
    again by the next call.
    """

    def __init__(self, net: LiveNet, batch: int) -> None:
        config = net.config
        width, channels, steps = config.d_model, config.channels, config.window
        self._net = net
        self.every = net.places.every.new_zeros(batch, *net.places.every.shape)
        self.last = net.places.last.new_zeros(batch, *net.places.last.shape)
        self.rows = self.every[..., -channels:]

        new = self.every.new_empty
        self._h, self._attended = self.every[..., :width], self.every[..., width : 4 * width]
        self._query = self._attended[..., :width]
        self._r, self._r2 = new(batch, steps, 1), new(batch, steps, 1)
        parts = [self._attended[..., i * width : (i + 1) * width] for i in range(3)]
        self._heads = [split_heads(part, config.heads) for part in parts]
        # Context and hidden layer lie side by side, so that one product takes both to the channels.
        self._both = new(batch * steps, 3 * width)
        self._context, self._hidden = self._both[:, :width], self._both[:, width:]
        self._context_heads = split_heads(self._context.view(batch, steps, width), config.heads)
        q, k, v = self._heads
        self._windows = list(zip(q, k.transpose(2, 3), v, self._context_heads, strict=True))
        self._weights = new(config.heads, steps, steps)
        self._h2 = new(batch * steps, width)
        self._h2_steps = self._h2.view(batch, steps, width)
        columns = net.head.shape[1]
        self._direct = self.every.view(batch * steps, -1)[:, 4 * width : 4 * width + columns]
        self._head = new(batch * steps, columns)
        self._reconstruction = self._head.view(batch, steps, columns)[..., :channels]
        self._prepare_queries(batch)

    def _prepare_queries(self, batch: int) -> None:
        """Make memory for predictor and target; what lies before the window stays zero."""
        net, config, width = self._net, self._net.config, self._net.config.d_model
        known, first = net.tail - config.horizon, config.window - net.tail
        self._taps_in = self.last[:, :known, : KERNEL * width]
        self._taps_r = self._r[:, first : first + known]
        zeros = self.every.new_zeros
        taps = zeros(batch, net.reads[0], KERNEL * width)
        self._taps = taps[:, net.reads[0] - known :]
        row = KERNEL * width
        across = row * config.dilations[0] + width  # to the next tap, of a later row
        shape = batch, net.counts[0], KERNEL, width
        self._taps_seen = taps.as_strided(shape, (taps.stride(0), row, across, 1))
        self._layers = [
            (
                zeros(batch, reads, width),
                zeros(batch, count * KERNEL, width),
                zeros(batch * count, width),
            )
            for reads, count in zip(net.reads[1:], net.counts[1:], strict=True)
        ]
        last = self.last[:, -config.scored_steps :, KERNEL * width :]
        self._target_h, self._target_q = last[..., :width], last[..., width:]
        self._target_r = self.every.new_empty(batch, config.scored_steps, 1)

    def __call__(self) -> Output:
        """Return x̂ (B, T, F), and q̂ and q* of the ``scored_steps`` last steps (B, N, k, d)."""
        self._decode()
        return Output(self._reconstruction, self._predict(), self._target())

    def _decode(self) -> None:
        net = self._net
        self._scale(self._h, self._r)
        self._attended.mul_(self._r)
        self._query.add_(net.shift)
        self._attend()
        torch.addmm(net.out_bias, self._context, net.out, out=self._h2)
        self._h2_steps.add_(self._h)
        self._scale(self._h2_steps, self._r2)
        self._h2_steps.mul_(self._r2)
        torch.addmm(net.widen_bias, self._h2, net.widen, out=self._hidden)
        self._hidden.relu_()
        torch.addmm(self._direct, self._both, net.head, out=self._head)

    def _attend(self) -> None:
        """Write softmax(q kᵀ, base 2) v into the context.

        As ``attention.attend``, window by window, with nothing to copy or look up.
        """
        if self.every.device.type != "cpu":
            q, k, v = self._heads
            context = scaled_dot_product_attention(q, k, v, scale=math.log(2))
            self._context_heads.copy_(context)
            return
        for q, k, v, out in self._windows:
            weights = torch.bmm(q, k, out=self._weights).exp2_()
            total = weights.sum(-1, keepdim=True)
            low, high = total.aminmax()
            if not (low.item() > 1 / SAFE and high.item() < SAFE):
                logits = torch.bmm(q, k).mul_(math.log(2))
                weights, total = torch.softmax(logits, dim=-1), torch.ones_like(total)
            torch.div(torch.bmm(weights, v), total, out=out)

    def _predict(self) -> Tensor:
        """Return q̂; every layer computes just what the next one reads."""
        net, width = self._net, self._net.config.d_model
        torch.addcmul(net.taps_shift, self._taps_in, self._taps_r, out=self._taps)
        z = self._taps_seen.sum(2).add_(net.taps_bias).relu_()
        for (padded, seen, out), order, (weight, bias) in zip(
            self._layers, net.orders, net.layers, strict=True
        ):
            if z.shape[1] < padded.shape[1]:
                padded[:, -z.shape[1] :] = z
                z = padded
            torch.index_select(z, 1, order, out=seen)
            torch.addmm(bias, seen.view(-1, KERNEL * width), weight, out=out).relu_()
            z = out.view(len(z), -1, width)
        z = torch.addmm(net.predicted_bias, z.view(-1, width), net.predicted).view_as(z)
        return split_heads(z, net.config.heads)

    def _target(self) -> Tensor:
        """Return q*."""
        self._scale(self._target_h, self._target_r)
        q = torch.addcmul(self._net.target_shift, self._target_q, self._target_r)
        return split_heads(q, self._net.config.heads)

    def _scale(self, centred: Tensor, out: Tensor) -> None:
        """Write what LayerNorm multiplies centred steps with."""
        torch.linalg.vector_norm(centred, dim=-1, keepdim=True, out=out)
        torch.addcmul(self._net.eps, out, out, value=1 / centred.shape[-1], out=out).rsqrt_()
