"""The training objective."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss, normalize

from axonad.model.net import Output


def query_distance(predicted: Tensor, target: Tensor) -> Tensor:
    """Return 1 - cos(q̂, q*) averaged over heads, (B, T) from (B, N, T, d)."""
    a, b = normalize(predicted, dim=-1), normalize(target, dim=-1)
    return (1 - (a * b).sum(-1)).mean(1)


def masked_query_loss(output: Output, mask: Tensor) -> Tensor:
    """Return the query distance averaged over the masked steps; mask is (B, T)."""
    distance = query_distance(output.predicted, output.target)
    return (distance * mask).sum() / mask.sum()


class WeightedLoss(nn.Module):
    """Sum of both losses, each weighted by a learned log-variance that starts at 0.

    exp(-a) MSE + a + exp(-b) L_query + b
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_variance = nn.Parameter(torch.zeros(2))

    def forward(self, output: Output, x: Tensor, mask: Tensor) -> Tensor:
        """Return the scalar to minimise."""
        return self.weigh(mse_loss(output.reconstruction, x), masked_query_loss(output, mask))

    def weigh(self, reconstruction: Tensor, prediction: Tensor) -> Tensor:
        """Return the weighted sum of two losses."""
        parts = torch.stack([reconstruction, prediction])
        weighted: Tensor = ((-self.log_variance).exp() * parts + self.log_variance).sum()
        return weighted
