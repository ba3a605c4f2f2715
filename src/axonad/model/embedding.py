"""Embedding and queries, the part of the network that the EMA target copies."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from axonad.model.config import NetConfig


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Return (B, N, T, d) from (B, T, D)."""
    batch, steps, width = x.shape
    return x.view(batch, steps, heads, width // heads).transpose(1, 2)


class QueryEncoder(nn.Module):
    """x → h = x We + be + P, H = LN1(h), q = H Wq."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.embed = nn.Linear(config.channels, config.d_model)
        self.position = nn.Parameter(torch.randn(config.window, config.d_model) * 0.02)
        self.norm = nn.LayerNorm(config.d_model)
        self.query = nn.Linear(config.d_model, config.d_model, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return h (B, T, D), H (B, T, D) and q (B, N, T, d).

        Steps do not mix here, so ``x`` may also hold only the last steps of a window.
        """
        h = self.embed(x) + self.position[-x.shape[1] :]
        H = self.norm(h)
        return h, H, split_heads(self.query(H), self.heads)
