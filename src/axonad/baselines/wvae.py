"""WVAE: negative log-likelihood under a recurrent denoising variational autoencoder.

Pereira, Silveira: Unsupervised representation learning and anomaly detection in ECG sequences.
International Journal of Data Mining and Bioinformatics 22(4), 2019.

Differs from the paper, as the runs published with AxonAD do, in scoring by the negative
log-likelihood under the decoder instead of Wasserstein distances between latent Gaussians, and in
Gaussian outputs. Differs from those runs in not using AMSGrad nor an L1 penalty of 1e-7.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from axonad.baselines._neural import NeuralDetector
from axonad.baselines._vae import PARITY, Gaussian, GaussianHead, kl, warm_up, with_noise


class LastState(nn.LSTM):
    """A bidirectional LSTM layer that returns the states at the last row only.

    The backward direction starts at the last row, so it needs a single step from a zero state, in
    which its recurrent weights and its forget gate have no effect.
    """

    def __init__(self, inner: int, width: int) -> None:
        super().__init__(inner, width, batch_first=True)
        for name, like in list(self.named_parameters()):  # as ``bidirectional=True`` draws them
            drawn = torch.empty_like(like).uniform_(-(width**-0.5), width**-0.5)
            self.register_parameter(f"{name}_reverse", nn.Parameter(drawn))

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Return the last row's states in both directions, (B, 2 width)."""
        ahead = super().forward(x)[1][0][0]
        weight, bias, more = (
            self.get_parameter(f"{name}_l0_reverse") for name in ("weight_ih", "bias_ih", "bias_hh")
        )
        enter, _, value, leave = linear(x[:, -1], weight, bias + more).chunk(4, dim=-1)
        back = leave.sigmoid() * (enter.sigmoid() * value.tanh()).tanh()
        return torch.cat([ahead, back], dim=-1)


class Net(nn.Module):
    """Windows (B, T, F) → the Gaussian of each value, and of a latent vector per window (B, Z)."""

    def __init__(self, channels: int, *, width: int, latent: int, noise: float) -> None:
        super().__init__()
        self._noise = noise
        self.encoder = LastState(channels, width)
        self.latent = GaussianHead(2 * width, latent)
        self.decoder = nn.LSTM(latent, width, batch_first=True, bidirectional=True)
        self.output = GaussianHead(2 * width, channels)

    def forward(self, x: Tensor) -> tuple[Gaussian, Gaussian]:
        """Return p(x | z) and q(z | x); z is sampled in training, else the mean."""
        last = self.encoder(with_noise(x, self._noise, training=self.training))
        q: Gaussian = self.latent(last)
        z = q.draw() if self.training else q.mean
        states, _ = self.decoder(z[:, None].expand(-1, x.shape[1], -1))
        return self.output(states), q


@dataclass(kw_only=True, eq=False, repr=False)
class WVAE(NeuralDetector):
    """Negative log-likelihood of windows under a recurrent denoising variational autoencoder.

    Parameters
    ----------
    width, latent
        Widths of the recurrent layers per direction, and of the latent vector of a window.
    noise
        Standard deviation of the noise added to scaled inputs in training.
    kl_weight
        Weight of the KL term, reached after 25 epochs.
    """

    width: int = 128
    latent: int = 10
    noise: float = 0.8
    kl_weight: float = 0.01

    lr_schedule = (1, 1.0)
    clip = 5.0
    parity = PARITY

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, **self._params("width", "latent", "noise"))

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        p, q = net(x)
        loss: Tensor = p.nll(x).sum(1).mean()
        if net.training:  # the validation loss is the likelihood alone
            loss = loss + warm_up(epoch, end=self.kl_weight) * kl(q).sum(-1).mean()
        return loss

    def _epoch_factor(self, epoch: int) -> float:
        return warm_up(epoch, end=self.kl_weight)

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        return torch.mean(net(x)[0].nll(x), 1)
