"""MAVAE: negative log-likelihood under a recurrent variational autoencoder with attention.

Correia, Goos, Klein, Bäck, Kononova: MA-VAE, multi-head attention-based variational autoencoder
approach for anomaly detection in multivariate time-series applied to automotive endurance
powertrain testing. NCTA 2023.

Queries and keys come from the window, values from its latent variables, so the decoder sees nothing
that has not passed the bottleneck. Differs from the paper, as the runs published with AxonAD do, in
half the width and in one score per window instead of merging overlapping windows. Differs from
those runs in not using AMSGrad and in projecting queries, keys and values once, as the paper does,
instead of twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from axonad.baselines._neural import NeuralDetector
from axonad.baselines._transformer import split_heads
from axonad.baselines._vae import PARITY, Gaussian, GaussianHead, kl, with_noise
from axonad.errors import ConfigError

CYCLE = 25  # epochs without the KL term, then epochs of each rise of its weight


def cyclic_weight(epoch: int, *, end: float) -> float:
    """Return the weight of the KL term in epoch 1, 2, ...: zero, then a sawtooth up to ``end``.

    >>> [cyclic_weight(epoch, end=0.24) for epoch in (1, 25, 26, 49, 50)]
    [0.0, 0.0, 0.01, 0.24, 0.0]
    """
    return 0.0 if epoch < CYCLE else end * ((epoch - CYCLE) % CYCLE) / (CYCLE - 1)


class Attention(nn.Module):
    """Values (B, T, Z), mixed by the similarity of a window's rows (B, T, F)."""

    def __init__(self, channels: int, latent: int, *, heads: int, size: int) -> None:
        super().__init__()
        self._heads = heads
        self.query = nn.Linear(channels, size)
        self.key = nn.Linear(channels, size)
        self.value = nn.Linear(latent, size)
        self.out = nn.Linear(size, latent)

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        """Return the mixed values, of the shape of ``z``."""
        parts = self.query(x), self.key(x), self.value(z)
        q, k, v = (split_heads(part, self._heads) for part in parts)
        mixed = scaled_dot_product_attention(q, k, v)
        out: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return out


class Recurrent(nn.Module):
    """Two bidirectional recurrent layers of different widths."""

    def __init__(self, inner: int, first: int, second: int) -> None:
        super().__init__()
        self.first = nn.LSTM(inner, first, batch_first=True, bidirectional=True)
        self.second = nn.LSTM(2 * first, second, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor) -> Tensor:
        """Return the states of the second layer."""
        states: Tensor = self.second(self.first(x)[0])[0]
        return states


class Net(nn.Module):
    """Windows (B, T, F) → the Gaussian of each value, and of the latent variables (B, T, Z)."""

    def __init__(
        self, channels: int, *, width: int, latent: int, heads: int, size: int, noise: float
    ) -> None:
        super().__init__()
        self._noise = noise
        half = max(1, width // 2)
        self.encoder = Recurrent(channels, width, half)
        self.latent = GaussianHead(2 * half, latent)
        self.attention = Attention(channels, latent, heads=heads, size=size)
        self.decoder = Recurrent(latent, half, width)
        self.output = GaussianHead(2 * width, channels)

    def forward(self, x: Tensor) -> tuple[Gaussian, Gaussian]:
        """Return p(x | z) and q(z | x); z is sampled in training, else the mean."""
        q: Gaussian = self.latent(self.encoder(with_noise(x, self._noise, training=self.training)))
        z = q.draw() if self.training else q.mean
        return self.output(self.decoder(self.attention(x, z))), q


@dataclass(kw_only=True, eq=False, repr=False)
class MAVAE(NeuralDetector):
    """Negative log-likelihood of windows under a variational autoencoder with attention.

    Parameters
    ----------
    width, latent
        Width of the outer recurrent layers per direction (the inner ones have half); latent
        variables per row.
    heads, attention
        Number of attention heads, and their total width.
    noise
        Standard deviation of the noise added to scaled inputs in training.
    kl_weight
        Highest weight of the KL term, which is zero at first and then rises again every 25 epochs.
    """

    width: int = 256
    latent: int = 64
    heads: int = 8
    attention: int = 64
    noise: float = 0.01
    kl_weight: float = 0.01

    lr_schedule = (1, 1.0)
    parity = PARITY
    score_batch = 256

    def _build(self, channels: int) -> nn.Module:
        sizes = self._params("width", "latent", "heads", "noise")
        return Net(channels, size=self.attention, **sizes)

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        p, q = net(x)
        loss: Tensor = p.nll(x).sum((1, 2)).mean()
        if net.training:  # the validation loss is the likelihood alone
            loss = loss + cyclic_weight(epoch, end=self.kl_weight) * kl(q).sum((1, 2)).mean()
        return loss

    def _epoch_factor(self, epoch: int) -> float:
        return cyclic_weight(epoch, end=self.kl_weight)

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        return torch.mean(net(x)[0].nll(x), 1)

    def _check_params(self) -> None:
        super()._check_params()
        if self.attention % self.heads:
            raise ConfigError(f"heads ({self.heads}) must divide attention ({self.attention})")
