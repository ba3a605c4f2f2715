"""Rows as tokens: how transformers on windows read them."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class RowEmbedding(nn.Module):
    """Windows (B, T, F) → tokens (B, T, D): three neighbouring rows at a time, and positions.

    The convolution goes round: the first row's neighbour is the last.
    """

    position: Tensor

    def __init__(self, channels: int, width: int, *, window: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.rows = nn.Conv1d(
            channels, width, 3, padding=1, padding_mode="circular", bias=False
        )  # fmt: skip
        nn.init.kaiming_normal_(self.rows.weight, mode="fan_in", nonlinearity="leaky_relu")
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("position", sinusoids(window, width), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the tokens."""
        tokens: Tensor = self.rows(x.transpose(1, 2)).transpose(1, 2) + self.position
        dropped: Tensor = self.dropout(tokens)
        return dropped


def sinusoids(rows: int, width: int) -> Tensor:
    """Return positions (rows, width): sines in even columns, cosines in odd ones."""
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angle = torch.arange(rows)[:, None] * rate
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]
