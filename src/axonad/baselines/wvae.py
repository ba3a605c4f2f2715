"""WVAE: a recurrent denoising variational autoencoder; a window's unlikelihood is the score.

Pereira, Silveira: Unsupervised representation learning and anomaly detection in ECG sequences.
International Journal of Data Mining and Bioinformatics 22(4), 2019.

Differs from the paper, as the runs published with AxonAD do, in scoring by the negative
log-likelihood under the decoder instead of Wasserstein distances between latent Gaussians, and in
Gaussian outputs. Differs from those runs in leaving out AMSGrad and an L1 penalty of 1e-7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from axonad.baselines._neural import NeuralDetector
from axonad.baselines._vae import PARITY, Gaussian, GaussianHead, kl, warm_up, with_noise
from axonad.config import check_float, check_int


class Net(nn.Module):
    """Windows (B, T, F) → the Gaussian of each value, and of one latent vector a window (B, Z)."""

    def __init__(self, channels: int, *, width: int, latent: int, noise: float) -> None:
        super().__init__()
        self._noise = noise
        self.encoder = nn.LSTM(channels, width, batch_first=True, bidirectional=True)
        self.latent = GaussianHead(2 * width, latent)
        self.decoder = nn.LSTM(latent, width, batch_first=True, bidirectional=True)
        self.output = GaussianHead(2 * width, channels)

    def forward(self, x: Tensor) -> tuple[Gaussian, Gaussian]:
        """Return p(x | z) and q(z | x); z is drawn while training, else it is the mean."""
        states, _ = self.encoder(with_noise(x, self._noise, training=self.training))
        q: Gaussian = self.latent(states[:, -1])
        z = q.draw() if self.training else q.mean
        states, _ = self.decoder(z[:, None].expand(-1, x.shape[1], -1))
        return self.output(states), q


@dataclass(kw_only=True, eq=False, repr=False)
class WVAE(NeuralDetector):
    """Negative log-likelihood of windows under a recurrent denoising variational autoencoder.

    Parameters
    ----------
    width, latent
        Of the recurrent layers in each direction, and of the vector that stands for a window.
    noise
        Standard deviation of the noise on scaled inputs while training.
    kl_weight
        Of the divergence of the latent vector from its prior, reached after 25 epochs.
    """

    width: int = 128
    latent: int = 10
    noise: float = 0.8
    kl_weight: float = 0.01

    lr_schedule: ClassVar[tuple[int, float]] = (1, 1.0)
    clip: ClassVar[float | None] = 5.0
    parity: ClassVar[Mapping[str, Any]] = PARITY

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, width=self.width, latent=self.latent, noise=self.noise)

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        p, q = net(x)
        loss: Tensor = p.nll(x).sum(1).mean()
        if net.training:  # what was not seen is judged by its likelihood alone
            loss = loss + warm_up(epoch, end=self.kl_weight) * kl(q).sum(-1).mean()
        return loss

    def _stage(self, epoch: int) -> float:
        return warm_up(epoch, end=self.kl_weight)

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        score: Tensor = net(x)[0].nll(x).mean(1)
        return score

    def _check_params(self) -> None:
        super()._check_params()
        check_int("width", self.width, low=1)
        check_int("latent", self.latent, low=1)
        check_float("noise", self.noise, low=0)
        check_float("kl_weight", self.kl_weight, low=0)
