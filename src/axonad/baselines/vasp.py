"""VASP: reconstruction error of a recurrent variational autoencoder with a very narrow bottleneck.

von Schleinitz, Graf, Trutschnig, Schröder: VASP, an autoencoder-based approach for multivariate
anomaly detection and robust time series prediction with application in motorsport. Engineering
Applications of Artificial Intelligence 104, 2021.

The paper's second half, a forecaster that reads repaired rows, is not part of the score, neither
there nor in the runs published with AxonAD, and is left out. Differs from the paper in dropout on a
layer's outputs instead of inside the recurrence, and from those runs in not using AMSGrad.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from axonad.baselines._neural import NeuralDetector, parity_with
from axonad.baselines._vae import Gaussian, GaussianHead, kl


class Net(nn.Module):
    """Windows (B, T, F) → reconstruction, and the Gaussian of one latent vector per window."""

    def __init__(self, channels: int, *, width: int, rows: int, latent: int) -> None:
        super().__init__()
        self.before = nn.Linear(channels, rows)
        self.encoder = nn.LSTM(rows, width, batch_first=True)
        self.narrow = nn.Linear(width, channels)
        self.latent = GaussianHead(channels, latent)
        self.widen = nn.Sequential(nn.Linear(latent, channels), nn.Linear(channels, width))
        self.decoder = nn.LSTM(width, width, batch_first=True)
        self.after = nn.Sequential(nn.Linear(width, rows), nn.Linear(rows, channels))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> tuple[Tensor, Gaussian]:
        """Sample the latent vector in training, use its mean otherwise."""
        states, _ = self.encoder(self.before(x))
        q: Gaussian = self.latent(self.narrow(self.dropout(states[:, -1])))
        z = self.widen(q.draw() if self.training else q.mean)
        states, _ = self.decoder(z[:, None].expand(-1, x.shape[1], -1))
        return self.after(self.dropout(states)), q


@dataclass(kw_only=True, eq=False, repr=False)
class VASP(NeuralDetector):
    """Reconstruction error of windows by a recurrent variational autoencoder.

    Parameters
    ----------
    width, rows, latent
        Widths of the recurrent layers, of the linear layers around them, and of the latent vector.
    kl_weight
        Weight of the KL term.
    """

    width: int = 65
    rows: int = 80
    latent: int = 16
    kl_weight: float = 0.5

    lr_schedule = (1, 1.0)
    parity = parity_with(patience=10, align="end")

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, width=self.width, rows=self.rows, latent=self.latent)

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        back, q = net(x)
        error: Tensor = (back - x).square().sum((1, 2)).mean()
        return error + self.kl_weight * kl(q).sum(-1).mean()

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        return torch.square(net(x)[0] - x).mean(1)
