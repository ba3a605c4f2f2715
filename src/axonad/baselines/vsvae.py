"""VSVAE: negative log-likelihood under a variational autoencoder with variational attention.

Pereira, Silveira: Unsupervised anomaly detection in energy time series data using variational
recurrent autoencoders with attention. ICMLA 2018.

The encoder's states attend to each other; each row's attention vector is a Gaussian variable, and
the decoder reads it together with the window's latent vector. Differs from the paper, as the runs
published with AxonAD do, in scoring from the means instead of by sampling. Differs from those runs
in not using AMSGrad nor an L1 penalty of 1e-8.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from axonad.baselines._neural import NeuralDetector
from axonad.baselines._vae import PARITY, Gaussian, GaussianHead, kl, warm_up, with_noise


def laplace_nll(x: Tensor, p: Gaussian) -> Tensor:
    """Return the Laplace negative log-likelihood of each value, with ``p.std`` as the scale."""
    return (x - p.mean).abs() / p.std + (2 * p.std).log()


class Net(nn.Module):
    """Windows (B, T, F) → output (B, T, F), latent (B, Z) and attention (B, T, A) variables."""

    def __init__(
        self, channels: int, *, width: int, latent: int, attention: int, noise: float
    ) -> None:
        super().__init__()
        self._noise = noise
        self.encoder = nn.LSTM(channels, width, batch_first=True, bidirectional=True)
        self.latent = GaussianHead(2 * width, latent)
        self.attention = GaussianHead(2 * width, attention)
        half = max(1, width // 2)
        self.decoder = nn.LSTM(latent + attention, half, batch_first=True, bidirectional=True)
        self.output = GaussianHead(2 * half, channels)

    def forward(self, x: Tensor) -> tuple[Gaussian, Gaussian, Gaussian]:
        """Sample the latent and the attention vectors in training, use their means otherwise."""
        states, _ = self.encoder(with_noise(x, self._noise, training=self.training))
        q: Gaussian = self.latent(states[:, -1])
        a: Gaussian = self.attention(scaled_dot_product_attention(states, states, states))
        z, vectors = (q.draw(), a.draw()) if self.training else (q.mean, a.mean)
        z = z[:, None].expand(-1, x.shape[1], -1)
        states, _ = self.decoder(torch.cat([z, vectors], dim=-1))
        return self.output(states), q, a


@dataclass(kw_only=True, eq=False, repr=False)
class VSVAE(NeuralDetector):
    """Negative log-likelihood of windows under a variational self-attention autoencoder.

    Parameters
    ----------
    width, latent, attention
        Widths of the encoder per direction (the decoder has half), of the window's latent vector,
        and of each row's attention vector.
    noise
        Standard deviation of the noise added to scaled inputs in training.
    kl_weight, attention_weight
        Weight of the KL terms, reached after 25 epochs; relative weight of the attention's KL term.
    """

    width: int = 128
    latent: int = 5
    attention: int = 5
    noise: float = 0.1
    kl_weight: float = 0.01
    attention_weight: float = 0.01

    lr_schedule = (1, 1.0)
    clip = 10.0
    parity = PARITY
    score_batch = 256

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, **self._params("width", "latent", "attention", "noise"))

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        p, q, a = net(x)
        loss = laplace_nll(x, p).mean()
        if net.training:  # the validation loss is the likelihood alone
            divergence = kl(q).sum(-1).mean() + self.attention_weight * kl(a).sum(-1).mean()
            loss = loss + warm_up(epoch, end=self.kl_weight) * divergence
        return loss

    def _epoch_factor(self, epoch: int) -> float:
        return warm_up(epoch, end=self.kl_weight)

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        return laplace_nll(x, net(x)[0]).mean(1)
