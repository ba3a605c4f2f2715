"""TranAD: a transformer reconstructs a window's last row twice, the second time given the error.

Tuli, Casale, Jennings: TranAD, deep transformer networks for anomaly detection in multivariate
time series data. PVLDB 15(6), 2022.

Differs from the paper, as the authors' code and TSB-AD do, in minimising the weighted sum of both
phases' errors instead of the adversarial losses, in layers without normalisation, and in scoring by
the second phase alone. Outputs are linear; ``tsb_ad=True`` uses a sigmoid, which suits inputs in
0…1, to reproduce the published results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from axonad.baselines._neural import LEADERBOARD, NeuralDetector, parity_with


class Layer(nn.Module):
    """Self-attention, optional attention to a memory, and two linear layers, with shortcuts."""

    def __init__(self, heads: int, width: int, dropout: float, *, memory: bool) -> None:
        super().__init__()
        size = 2 * heads
        count = 2 if memory else 1
        self.attention = nn.ModuleList(
            nn.MultiheadAttention(size, heads, dropout=dropout, batch_first=True)
            for _ in range(count)
        )
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Sequential(  # no activation: the authors' leaky ReLU has slope 1
            nn.Linear(size, width), nn.Dropout(dropout), nn.Linear(width, size)
        )

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        """Return the rows (B, T, 2F) after this layer."""
        for attention, other in zip(self.attention, (None, memory), strict=False):
            source = x if other is None else other
            x = x + self.dropout(attention(x, source, source, need_weights=False)[0])
        out: Tensor = x + self.dropout(self.linear(x))
        return out


class Net(nn.Module):
    """Windows (B, T, F) → their last rows (B, F), reconstructed in two phases."""

    position: Tensor

    def __init__(
        self, channels: int, window: int, width: int, dropout: float, *, sigmoid: bool
    ) -> None:
        super().__init__()
        self.encoder = Layer(channels, width, dropout, memory=False)
        self.decoder1 = Layer(channels, width, dropout, memory=True)
        self.decoder2 = Layer(channels, width, dropout, memory=True)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(2 * channels, channels)
        self.last = nn.Sigmoid() if sigmoid else nn.Identity()
        angle = torch.arange(window)[:, None] * torch.exp(
            torch.arange(2 * channels) * (-math.log(10_000) / (2 * channels))
        )
        self.register_buffer("position", angle.sin() + angle.cos(), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the last row as reconstructed in each phase."""
        target = x[:, -1:].repeat(1, 1, 2)
        first = self._phase(self.decoder1, x, torch.zeros_like(x), target)
        focus = (first[:, None] - x).square()
        return first, self._phase(self.decoder2, x, focus, target)

    def _phase(self, decoder: nn.Module, x: Tensor, focus: Tensor, target: Tensor) -> Tensor:
        seen = torch.cat([x, focus], dim=2) * math.sqrt(x.shape[2]) + self.position
        memory = self.encoder(self.dropout(seen))
        row: Tensor = self.last(self.head(decoder(target, memory)))
        return row[:, 0]


@dataclass(kw_only=True, eq=False, repr=False)
class TranAD(NeuralDetector):
    """Squared error of a window's last row, reconstructed by a transformer given its first error.

    Parameters
    ----------
    width, dropout
        Width of the layers' linear part; dropout rate. There are as many heads as channels.
    tsb_ad
        Sigmoid outputs (parity).
    """

    window: int = 10
    width: int = 16
    dropout: float = 0.1
    weight_decay: float = 1e-5
    align: str = "end"
    tsb_ad: bool = False

    lr_schedule = (5, 0.9)
    parity = parity_with(tsb_ad=True)
    leaderboard = LEADERBOARD

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, self.window, self.width, self.dropout, sigmoid=self.tsb_ad)

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        first, second = net(x)
        share = 1 / epoch
        return share * mse_loss(first, x[:, -1]) + (1 - share) * mse_loss(second, x[:, -1])

    def _epoch_factor(self, epoch: int) -> float:
        return 1 / epoch

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        return torch.square(net(x)[1] - x[:, -1])
