"""Parts that transformers on windows share: row embedding, positions, attention heads."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class RowEmbedding(nn.Module):
    """Windows (B, T, F) → tokens (B, T, D): a circular convolution over three rows, plus positions.

    The first row's left neighbour is the last row.
    """

    position: Tensor

    def __init__(self, channels: int, width: int, *, window: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.rows = nn.Conv1d(channels, width, 3, padding=1, padding_mode="circular", bias=False)
        nn.init.kaiming_normal_(self.rows.weight, mode="fan_in", nonlinearity="leaky_relu")
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("position", sinusoids(window, width), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the tokens."""
        tokens: Tensor = self.dropout(self.rows(x.mT).mT + self.position)
        return tokens


def sinusoids(rows: int, width: int) -> Tensor:
    """Return position encodings (rows, width): sines in even columns, cosines in odd ones."""
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angle = torch.arange(rows)[:, None] * rate
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Return (B, T, D) as (B, H, T, D/H)."""
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)
