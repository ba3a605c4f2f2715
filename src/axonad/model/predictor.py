"""The history-only predictor of queries."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, embedding, linear, pad, relu

from axonad.model.config import NetConfig
from axonad.model.embedding import split_heads

KERNEL = 3


class QueryPredictor(nn.Module):
    """Causal dilated convolutions over H shifted by s steps: q̂ at τ sees H up to τ - s only."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.horizon = config.horizon
        self.dropout = config.dropout
        width = config.d_model
        self.convolutions = nn.ModuleList(
            nn.Conv1d(width, width, KERNEL, dilation=dilation) for dilation in config.dilations
        )
        self.dilations = config.dilations
        self.reach = (KERNEL - 1) * sum(config.dilations)
        self.room = self.reach + self.horizon  # steps before a prediction that it depends on
        self.out = nn.Conv1d(width, width, 1)
        self._packed: tuple[list[Any], list[tuple[Tensor, Tensor]]] | None = None

    def forward(self, H: Tensor, last: int | None = None) -> Tensor:
        """Return predicted queries (B, N, T, d) from H (B, T, D), or those of the last steps.

        The last steps see ``reach`` steps back and no further: computing on these alone gives the
        same answer.
        """
        z = shift(H, self.horizon)
        steps = H.shape[1] if last is None else last
        if not self.training and steps + self.reach <= H.shape[1]:
            return split_heads(self._tail(z[:, -(steps + self.reach) :]), self.heads)
        z = z[:, -(steps + self.reach) :].transpose(1, 2)  # (B, D, T), as convolutions want it
        short = z.shape[2] < steps + self.reach  # else no zero in front would reach the last steps
        for convolution, dilation in zip(self.convolutions, self.dilations, strict=True):
            past = pad(z, ((KERNEL - 1) * dilation, 0)) if short else z  # never a look ahead
            z = dropout(relu(convolution(past)), self.dropout, self.training)
        z = self.out(z[:, :, -steps:])
        return split_heads(z.transpose(1, 2).contiguous(), self.heads)

    def at_blocks(
        self, H: Tensor, starts: Tensor, span: int, generator: torch.Generator | None = None
    ) -> Tensor:
        """Return predicted queries (B, N, span, d) of the steps from each window's start (B,) on.

        Steps come first in memory here: a tap then reads one block of it, and a convolution is
        three products, which a processor does faster than the convolution.
        """
        batch, window, width = H.shape
        steps = torch.arange(span + self.reach, device=H.device)[:, None]
        rows = steps + starts - self.room + window * torch.arange(batch, device=H.device)
        z = embedding(rows, H.flatten(0, 1))  # indexing, with a gradient that is quick on rows
        for convolution, dilation in zip(self.convolutions, self.dilations, strict=True):
            count = len(z) - (KERNEL - 1) * dilation
            y: Tensor = convolution.get_parameter("bias")
            for tap, weight in enumerate(convolution.get_parameter("weight").permute(2, 1, 0)):
                y = torch.addmm(y, z[tap * dilation :][:count].flatten(0, 1), weight)
            z = relu(y)
            if self.training and self.dropout:
                kept = torch.rand(y.shape, generator=generator, device=y.device) >= self.dropout
                z = z * (kept.to(y.dtype) / (1 - self.dropout))
            z = z.view(count, batch, width)
        z = linear(z, self.out.weight.squeeze(2), self.out.bias)
        return z.view(span, batch, self.heads, -1).permute(1, 2, 0, 3)

    def _tail(self, z: Tensor) -> Tensor:
        """Return the predictions at the steps that need no zeros in front, as matrix products.

        Every layer uses up (KERNEL - 1) · dilation steps, so each computes just what the next one
        reads; for a single window a product starts many times faster than a convolution.
        """
        for (weight, bias), dilation in zip(self._products(), self.dilations, strict=False):
            count = z.shape[1] - (KERNEL - 1) * dilation
            taps = [z[:, tap * dilation : tap * dilation + count] for tap in range(KERNEL)]
            z = relu(linear(torch.cat(taps, dim=-1), weight, bias))
        weight, bias = self._products()[-1]
        return linear(z, weight, bias)

    def _products(self) -> list[tuple[Tensor, Tensor]]:
        """Return each layer's weights as (D, taps · D) and its bias; made anew when they change."""
        layers = [*self.convolutions, self.out]
        state = [
            (w.data_ptr(), w._version, w.dtype) for layer in layers for w in layer.parameters()
        ]
        if self._packed is None or self._packed[0] != state:
            products = [(_flat(layer.weight), layer.bias) for layer in layers]
            self._packed = (state, products)
        return self._packed[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed": None}  # a copy has weights of its own


def _flat(weight: Tensor) -> Tensor:
    """Return a convolution's weight (D, D, taps) as one of a product with taps side by side."""
    return weight.detach().permute(0, 2, 1).flatten(1).contiguous()


def shift(H: Tensor, steps: int) -> Tensor:
    """Return H moved ``steps`` later in time, zeros in front (B, T, D)."""
    return pad(H, (0, 0, steps, 0))[:, : H.shape[1]]
