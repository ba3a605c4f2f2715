"""SISVAE: negative log-likelihood under a sequential variational autoencoder with smooth outputs.

Li, Yan, Wang, Jin: Anomaly detection of time series with smoothness-inducing sequential
variational auto-encoder. IEEE Transactions on Neural Networks and Learning Systems 32(3), 2021.

Each row has latent variables with a prior learned from the past; the KL divergence between the
output Gaussians of neighbouring rows is a penalty. Differs from the paper, as the runs published
with AxonAD do, in a recurrent state that reads the rows but not the latent variables, so that all
rows are computed at once. Differs from those runs in not using AMSGrad.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from axonad.baselines._mlp import mlp
from axonad.baselines._neural import NeuralDetector
from axonad.baselines._vae import PARITY, Gaussian, GaussianHead, kl


def smoothness(p: Gaussian) -> Tensor:
    """Return the KL divergence of each row's Gaussian (B, T, F) from the next: (B, T-1, F)."""
    before = Gaussian(p.mean[:, :-1], p.std[:, :-1])
    return kl(before, Gaussian(p.mean[:, 1:], p.std[:, 1:]))


def _two_layers(inner: int, width: int) -> nn.Sequential:
    return mlp(inner, width, width).append(nn.ReLU())


class Net(nn.Module):
    """Windows (B, T, F) → output, posterior and prior, each a Gaussian per row."""

    def __init__(self, channels: int, *, width: int, latent: int) -> None:
        super().__init__()
        self.row = _two_layers(channels, width)
        self.recurrent = nn.GRU(width, width, batch_first=True)
        self.prior = nn.Sequential(_two_layers(width, width), GaussianHead(width, latent))
        self.posterior = nn.Sequential(_two_layers(2 * width, width), GaussianHead(width, latent))
        self.code = _two_layers(latent, width)
        self.output = nn.Sequential(_two_layers(2 * width, width), GaussianHead(width, channels))

    def forward(self, x: Tensor) -> tuple[Gaussian, Gaussian, Gaussian]:
        """Return p(x | z, past), q(z | x, past) and p(z | past); z is the mean unless training."""
        row = self.row(x)
        states, _ = self.recurrent(row)
        past = torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], dim=1)
        q: Gaussian = self.posterior(torch.cat([row, past], dim=-1))
        z = q.draw() if self.training else q.mean
        p: Gaussian = self.output(torch.cat([self.code(z), past], dim=-1))
        learned: Gaussian = self.prior(past[:, 1:])  # the first step has no past
        first = q.mean[:, :1]
        prior = Gaussian(
            torch.cat([torch.zeros_like(first), learned.mean], dim=1),
            torch.cat([torch.ones_like(first), learned.std], dim=1),
        )
        return p, q, prior


@dataclass(kw_only=True, eq=False, repr=False)
class SISVAE(NeuralDetector):
    """Negative log-likelihood of windows under a smooth sequential variational autoencoder.

    Parameters
    ----------
    width, latent
        Width of the recurrent and hidden layers; latent variables per row.
    smooth
        Weight of the penalty on changes between neighbouring rows.
    """

    width: int = 200
    latent: int = 40
    smooth: float = 0.5

    lr_schedule = (1, 1.0)
    parity = PARITY
    score_batch = 256

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, width=self.width, latent=self.latent)

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        p, q, prior = net(x)
        parts = (p.nll(x), kl(q, prior), self.smooth * smoothness(p))
        return torch.stack([part.sum((1, 2)).mean() for part in parts]).sum()

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        return torch.mean(net(x)[0].nll(x), 1)
