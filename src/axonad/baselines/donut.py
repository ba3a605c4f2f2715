"""Donut: negative log-likelihood of a window's last row under a variational autoencoder.

Xu, Chen, Zhao, Li, Bu, Li and others: Unsupervised anomaly detection via variational auto-encoder
for seasonal KPIs in web applications. WWW 2018.

Differs from the paper in handling several channels at once, one hidden layer, a likelihood averaged
over the window's rows (all as in TSB-AD), and no imputation when scoring. Differs from TSB-AD in
the latent samples: the same normal samples serve every window, so that scores are reproducible;
TSB-AD draws new uniform ones each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, softplus

from axonad.baselines._neural import LEADERBOARD, NeuralDetector, parity_with
from axonad.config import check_float

TINY = 1e-6  # lower bound of standard deviations and variances


class Normal(nn.Module):
    """One hidden layer, then mean and standard deviation of a normal distribution."""

    def __init__(self, inner: int, width: int, outer: int) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(inner, width), nn.ReLU())
        self.head = nn.Linear(width, 2 * outer)

    def forward(self, x: Tensor, *, last: int | None = None) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation, of the last ``last`` outputs only if given."""
        outer = self.head.out_features // 2
        kept = slice(-last if last else 0, None)  # of the means and of the deviations
        weight = self.head.weight.view(2, outer, -1)[:, kept].flatten(0, 1)
        bias = self.head.bias.view(2, outer)[:, kept].flatten()
        mean, deviation = linear(self.hidden(x), weight, bias).chunk(2, dim=-1)
        return mean, softplus(deviation) + TINY


def gaussian_nll(x: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """Return the negative log-likelihood of each value of ``x``, up to a constant.

    Like torch's ``gaussian_nll_loss``, but without synchronising with the host. Variances below
    TINY count as TINY, and keep their gradient.
    """
    variance = deviation.square()
    variance = variance + (variance.clamp(min=TINY) - variance).detach()
    return 0.5 * (variance.log() + (mean - x).square() / variance)


class Net(nn.Module):
    """Encoder, decoder, and the fixed latent samples used in scoring."""

    def __init__(self, size: int, width: int, latent: int, samples: int) -> None:
        super().__init__()
        self.encoder = Normal(size, width, latent)
        self.decoder = Normal(latent, width, size)
        self.register_buffer("draws", torch.randn(samples, 1, latent))


@dataclass(kw_only=True, eq=False, repr=False)
class Donut(NeuralDetector):
    """Negative log-likelihood of a window's last row under a variational autoencoder.

    Parameters
    ----------
    width, latent
        Width of the hidden layers; latent variables per window.
    missing
        Share of values masked in training.
    samples
        Latent samples a score is averaged over.
    """

    window: int = 60
    width: int = 100
    latent: int = 8
    missing: float = 0.01
    samples: int = 128
    weight_decay: float = 1e-3
    align: str = "end"

    lr_schedule = (10, 0.75)
    clip = 10.0
    score_batch = 128
    parity = parity_with(validation=0.0, samples=1024)
    leaderboard = LEADERBOARD

    def _build(self, channels: int) -> nn.Module:
        return Net(self.window * channels, self.width, self.latent, self.samples)

    def _loss(self, net: Any, x: Tensor, epoch: int) -> Tensor:
        """Return the negative M-ELBO, with the latent terms in closed form."""
        x = x.flatten(1)
        seen = torch.ones_like(x)
        if net.training:
            seen = (torch.rand_like(x) >= self.missing).float()
        mean, deviation = net.encoder(x * seen)
        z = mean + deviation * torch.randn_like(mean) if net.training else mean
        out, spread = net.decoder(z)
        likelihood = seen * gaussian_nll(x, out, spread)
        prior = 0.5 * (mean.square() + deviation.square()).sum(-1) * seen.mean(-1)
        total: Tensor = likelihood.sum(-1) / self.window + prior - deviation.log().sum(-1)
        return total.mean()

    def _window_score(self, net: Any, x: Tensor) -> Tensor:
        mean, deviation = net.encoder(x.flatten(1))
        out, spread = net.decoder(mean + deviation * net.draws, last=x.shape[2])
        return gaussian_nll(x[:, -1], out, spread).mean(0)

    def _check_params(self) -> None:
        super()._check_params()
        check_float("missing", self.missing, low=0, below=1)
