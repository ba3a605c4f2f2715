"""The training objective."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss, normalize

if TYPE_CHECKING:
    from axonad.model.net import Output


def query_distance(predicted: Tensor, target: Tensor) -> Tensor:
    """Return 1 - cos(q̂, q*) averaged over heads, (B, T) from (B, N, T, d)."""
    a, b = normalize(predicted, dim=-1), normalize(target, dim=-1)
    return (1 - (a * b).sum(-1)).mean(1)


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of values (B, T) over the steps where the mask (B, T) is 1."""
    return (values * mask).sum() / mask.sum()


class WeightedLoss(nn.Module):
    """Sum of both losses, each weighted by a learned log-variance that starts at 0.

    exp(-a) MSE + a + exp(-b) L_query + b
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_variance = nn.Parameter(torch.zeros(2))

    def forward(self, output: Output, x: Tensor, mask: Tensor) -> Tensor:
        """Return the scalar to minimise; the mask (B, T) is 1 on the steps to predict."""
        distance = query_distance(output.predicted, output.target)
        return self.weigh(mse_loss(output.reconstruction, x), masked_mean(distance, mask))

    def weigh(self, reconstruction: Tensor, prediction: Tensor) -> Tensor:
        """Return the weighted sum of the two losses."""
        parts = torch.stack([reconstruction, prediction])
        weighted: Tensor = ((-self.log_variance).exp() * parts + self.log_variance).sum()
        return weighted
