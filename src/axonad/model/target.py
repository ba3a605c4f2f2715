"""The target encoder: a slowly moving copy of the query encoder that receives no gradient."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from axonad.model.embedding import QueryEncoder


class MomentumTarget(nn.Module):
    """Exponential moving average of a query encoder; starts as its copy."""

    def __init__(self, online: QueryEncoder, *, momentum: float) -> None:
        super().__init__()
        self.momentum = momentum
        self.encoder = copy.deepcopy(online).requires_grad_(False)

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        """Return target queries q* (B, N, T, d)."""
        q: Tensor = self.encoder(x)[2]
        return q

    @torch.no_grad()
    def update(self, online: QueryEncoder) -> None:
        """θ* ← m θ* + (1 - m) θ; called after every optimiser step."""
        slow: list[Tensor] = list(self.encoder.parameters())
        fast: list[Tensor] = list(online.parameters())
        torch._foreach_lerp_(slow, fast, 1 - self.momentum)
