"""OmniAnomaly: reconstruction error of a recurrent variational autoencoder.

Su, Zhao, Niu, Liu, Sun, Pei: Robust anomaly detection for multivariate time series through
stochastic recurrent neural network. KDD 2019.

Differs from the paper, as TSB-AD does, in leaving out the state-space model and the normalising
flow of the latent variables, and in the squared error instead of a likelihood. Differs from TSB-AD
in three things: every window starts from a zero state (TSB-AD mixes up the rows of a batch's
windows and starts from random states), scoring uses the mean of the latent variables instead of a
sample, and outputs are linear unless ``tsb_ad=True`` asks for the sigmoid.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from axonad.baselines._mlp import mlp
from axonad.baselines._neural import LEADERBOARD, NeuralDetector, parity_with


class Net(nn.Module):
    """Windows (B, T, F) → reconstruction, mean and log-variance of the latent variables."""

    def __init__(self, channels: int, width: int, latent: int, *, sigmoid: bool) -> None:
        super().__init__()
        self.recurrent = nn.GRU(channels, width, 2, batch_first=True)
        self.encoder = mlp(width, width, width, 2 * latent, activation=nn.PReLU)
        self.decoder = mlp(latent, width, width, channels, activation=nn.PReLU)
        self.last = nn.Sigmoid() if sigmoid else nn.Identity()

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Sample the latent variables in training, use their mean otherwise."""
        mean, log_variance = self.encoder(self.recurrent(x)[0]).chunk(2, dim=-1)
        z = mean
        if self.training:
            z = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        return self.last(self.decoder(z)), mean, log_variance


@dataclass(kw_only=True, eq=False, repr=False)
class OmniAnomaly(NeuralDetector):
    """Reconstruction error of windows by a recurrent variational autoencoder.

    Parameters
    ----------
    width, latent
        Width of the recurrent and hidden layers; latent variables per row.
    beta
        Weight of the KL term.
    tsb_ad
        Sigmoid outputs (parity).
    """

    width: int = 32
    latent: int = 8
    beta: float = 0.01
    lr: float = 2e-3
    weight_decay: float = 1e-5
    tsb_ad: bool = False

    lr_schedule = (5, 0.9)
    parity = parity_with(tsb_ad=True)
    leaderboard = LEADERBOARD

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, self.width, self.latent, sigmoid=self.tsb_ad)

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        back, mean, log_variance = net(x)
        divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance)
        loss: Tensor = mse_loss(back, x) + self.beta * divergence.sum((1, 2)).mean()
        return loss

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        return torch.square(net(x)[0] - x).mean(1)
