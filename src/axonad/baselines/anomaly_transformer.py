"""AnomalyTransformer: reconstruction error, weighted more where attention stays near its row.

Xu, Wu, Wang, Long: Anomaly Transformer, time series anomaly detection with association
discrepancy. ICLR 2022.

Each layer has two associations between rows: its attention (the series association) and a Gaussian
around each row (the prior association). Training is a minimax: the prior is pulled towards the
attention, the attention is pushed away from the prior. An anomaly's attention stays near its own
row, so a small discrepancy raises the weight of its reconstruction error. The authors' code and
TSB-AD multiply the discrepancy by 50 in each of three layers (parity), which underflows to a weight
of exactly zero for most rows in float32; here, as in the paper, it is the mean over layers. Differs
from TSB-AD in stopping early by the reconstruction error alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, mse_loss

from axonad.baselines._neural import LEADERBOARD, NeuralDetector, parity_with
from axonad.baselines._transformer import RowEmbedding, split_heads
from axonad.errors import ConfigError

SMALL = 1e-4  # added to probabilities before their logarithm


class Associations(NamedTuple):
    """The associations of one layer, each (B, H, T, T) with rows that sum to one."""

    series: Tensor
    prior: Tensor


def discrepancy(series: Tensor, prior: Tensor) -> Tensor:
    """Return KL(series ‖ prior) + KL(prior ‖ series) of each row, averaged over heads: (B, T)."""
    ratio = (series + SMALL).log() - (prior + SMALL).log()
    return ((series - prior) * ratio).sum(-1).mean(1)


def minimax(series: Tensor, prior: Tensor) -> Tensor:
    """Return a zero whose gradient pulls the prior to the series and pushes the series away.

    Both phases of the paper share one discrepancy: lerp with weight 2 towards a detached copy keeps
    the value of ``series`` and reverses its gradient.
    """
    distance = discrepancy(series.lerp(series.detach(), 2.0), prior).mean()
    return distance - distance.detach()


def squared_distances(rows: int) -> Tensor:
    """Return the squared distance between row numbers: (rows, rows)."""
    place = torch.arange(float(rows))
    return (place[:, None] - place).square()


def prior_association(sigma: Tensor, squares: Tensor) -> Tensor:
    """Return Gaussian weights around each row, of widths that ``sigma`` (B, H, T) determines."""
    width = torch.pow(3.0, torch.sigmoid(5 * sigma) + 1e-5) - 1
    return torch.softmax((-0.5 / width.square())[..., None] * squares, dim=-1)


class Layer(nn.Module):
    """Tokens (B, T, D) → tokens, and both associations of this layer."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self._heads = heads
        self.projection = nn.Linear(width, 3 * width)
        self.sigma = nn.Linear(width, heads)
        self.out = nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: Tensor, squares: Tensor) -> tuple[Tensor, Associations]:
        """Apply attention, then two linear layers, each with a shortcut and a norm."""
        q, k, v = (split_heads(part, self._heads) for part in self.projection(x).chunk(3, dim=-1))
        series = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
        prior = prior_association(self.sigma(x).transpose(1, 2), squares)
        x = self.norm1(x + self.out((series @ v).transpose(1, 2).flatten(2)))
        x = self.norm2(x + self.narrow(gelu(self.wide(x))))
        return x, Associations(series, prior)


class Net(nn.Module):
    """Windows (B, T, F) → their reconstruction, and each layer's associations."""

    squares: Tensor

    def __init__(
        self, channels: int, *, window: int, width: int, heads: int, hidden: int, layers: int
    ) -> None:
        super().__init__()
        self.embedding = RowEmbedding(channels, width, window=window)
        self.layers = nn.ModuleList(Layer(width, heads, hidden) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, channels)
        self.register_buffer("squares", squared_distances(window), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, list[Associations]]:
        """Return the reconstruction and the associations, first layer first."""
        tokens, found = self.embedding(x), []
        for layer in self.layers:
            tokens, associations = layer(tokens, self.squares)
            found.append(associations)
        return self.head(self.norm(tokens)), found


@dataclass(kw_only=True, eq=False, repr=False)
class AnomalyTransformer(NeuralDetector):
    """Squared error of each window's last row, times a weight that falls with its discrepancy.

    Parameters
    ----------
    width, heads, hidden, layers
        Token width, attention heads, width of the feed-forward part, number of layers.
    discrepancy_weight
        Weight of the association discrepancy in the loss.
    temperature
        Factor of the discrepancy in the score.
    """

    window: int = 50
    width: int = 512
    heads: int = 8
    hidden: int = 512
    layers: int = 3
    discrepancy_weight: float = 3.0
    temperature: float = 1.0
    epochs: int = 10
    patience: int = 7
    align: str = "end"

    lr_schedule = (1, 0.5)
    parity = parity_with(temperature=150.0)
    leaderboard = LEADERBOARD
    score_batch = 256

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, **self._params("window", "width", "heads", "hidden", "layers"))

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        back, found = net(x)
        loss = 2 * mse_loss(back, x)  # one term in each of the two phases
        if not net.training:
            return loss
        phases = torch.stack([minimax(*associations) for associations in found])
        return loss + self.discrepancy_weight * phases.mean()

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        back, found = net(x)
        mean = torch.stack([discrepancy(*associations) for associations in found]).mean(0)
        weight = torch.softmax(-self.temperature * mean, dim=-1)
        error: Tensor = (back - x)[:, -1]
        return weight[:, -1:] * error.square()

    def _check_params(self) -> None:
        super()._check_params()
        if self.width % self.heads:
            raise ConfigError(f"heads ({self.heads}) must divide width ({self.width})")
