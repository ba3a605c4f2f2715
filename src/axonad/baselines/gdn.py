"""GDN: squared error of a forecast of each channel from the channels most similar to it.

Deng, Hooi: Graph neural network-based anomaly detection in multivariate time series. AAAI 2021.

Every channel has a learned vector; the most similar ones (by cosine) are its neighbours in a graph,
and attention over them and itself forecasts its next value. Differs from the paper, as the runs
published with AxonAD do, in scoring by the mean squared error over channels instead of the largest
standardised error. Those runs also ignored two settings of the output network and used a single
linear layer, and their 15 neighbours include the channel itself; parity does the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, normalize

from axonad.baselines._forecaster import Forecaster
from axonad.baselines._neural import parity_with
from axonad.config import check_int


def neighbours(vectors: Tensor, top: int) -> Tensor:
    """Return the graph (F, F) as booleans: each channel's ``top`` most similar other channels."""
    similarity = normalize(vectors, dim=-1) @ normalize(vectors, dim=-1).T
    similarity.fill_diagonal_(-torch.inf)
    nearest = similarity.topk(min(top, len(vectors) - 1), dim=-1).indices
    return torch.zeros_like(similarity, dtype=torch.bool).scatter_(1, nearest, value=True)


class GraphAttention(nn.Module):
    """Histories of channels (B, F, T) → features (B, F, D), mixed along the graph."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.features = nn.Linear(rows, width, bias=False)
        self.receiver = nn.Linear(2 * width, 1, bias=False)
        self.sender = nn.Linear(2 * width, 1, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))
        for layer in (self.features, self.receiver, self.sender):
            nn.init.xavier_uniform_(layer.weight)

    def weights(self, features: Tensor, vectors: Tensor, graph: Tensor) -> Tensor:
        """Return the attention (B, F, F) of each channel over its neighbours and itself."""
        both = torch.cat([vectors.expand(len(features), -1, -1), features], dim=-1)
        affinity = leaky_relu(self.receiver(both) + self.sender(both).transpose(1, 2), 0.2)
        itself = torch.eye(len(graph), dtype=torch.bool, device=graph.device)
        return affinity.masked_fill(~(graph | itself), -torch.inf).softmax(-1)

    def forward(self, x: Tensor, vectors: Tensor, graph: Tensor) -> Tensor:
        """Return the mixed features."""
        features = self.features(x)
        mixed: Tensor = self.weights(features, vectors, graph) @ features + self.bias
        return mixed


class OverChannels(nn.BatchNorm1d):
    """Batch normalisation of the last dimension of (B, F, D)."""

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised."""
        return super().forward(x.flatten(0, 1)).view_as(x)


class Net(nn.Module):
    """Windows (B, T, F) → the next row (B, F)."""

    def __init__(
        self, channels: int, rows: int, *, top: int, width: int, hidden: int, layers: int
    ) -> None:
        super().__init__()
        self._top = top
        self.vectors = nn.Parameter(torch.empty(channels, width))
        nn.init.kaiming_uniform_(self.vectors, a=5**0.5)
        self.attention = GraphAttention(rows, width)
        self.mixed = nn.Sequential(OverChannels(width), nn.ReLU())
        self.own = nn.Sequential(OverChannels(width), nn.ReLU(), nn.Dropout(0.2))
        output: list[nn.Module] = []
        for inner in (width, *[hidden] * (layers - 2))[: layers - 1]:
            output += [nn.Linear(inner, hidden), OverChannels(hidden), nn.ReLU()]
        output.append(nn.Linear(hidden if layers > 1 else width, 1))
        self.output = nn.Sequential(*output)

    def forward(self, x: Tensor) -> Tensor:
        """Return the forecast; no gradient flows through the choice of the graph."""
        graph = neighbours(self.vectors.detach(), self._top)
        mixed = self.mixed(self.attention(x.transpose(1, 2), self.vectors, graph))
        forecast: Tensor = self.output(self.own(mixed * self.vectors))
        return forecast[..., 0]


@dataclass(kw_only=True, eq=False, repr=False)
class GDN(Forecaster):
    """Squared error of a graph network's forecast of each window's last row.

    Parameters
    ----------
    window
        Rows of a window, including the forecast one.
    top
        Neighbours of each channel in the graph; all others where there are fewer.
    width
        Width of the channels' vectors and features.
    hidden, layers
        Width of the output network's hidden layers; number of its linear layers.
    """

    top: int = 15
    width: int = 64
    hidden: int = 128
    layers: int = 2
    weight_decay: float = 1e-5
    align: str = "end"

    lr_schedule = (1, 1.0)
    parity = parity_with(layers=1, epochs=30, patience=10, top=14)
    score_batch = 256

    @property
    def history(self) -> int:
        """Rows a score needs: one window, which ends with the forecast row."""
        return self.window

    def _build(self, channels: int) -> nn.Module:
        sizes = self._params("top", "width", "hidden", "layers")
        return Net(channels, self.window - 1, **sizes)

    def _check_params(self) -> None:
        super()._check_params()
        check_int("window", self.window, low=2)
