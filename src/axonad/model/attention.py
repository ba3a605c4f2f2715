"""Bidirectional multi-head self-attention over one window."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from axonad.model.config import NetConfig
from axonad.model.embedding import split_heads


class Attention(nn.Module):
    """Softmax attention with given queries; keys and values without bias, output with bias."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.key = nn.Linear(config.d_model, config.d_model, bias=False)
        self.value = nn.Linear(config.d_model, config.d_model, bias=False)
        self.out = nn.Linear(config.d_model, config.d_model)

    def forward(self, q: Tensor, H: Tensor) -> Tensor:
        """Return the context (B, T, D) of queries q (B, N, T, d) over H (B, T, D)."""
        k = split_heads(self.key(H), self.heads)
        v = split_heads(self.value(H), self.heads)
        context = scaled_dot_product_attention(q, k, v)
        mixed: Tensor = self.out(context.transpose(1, 2).flatten(2))
        return mixed
