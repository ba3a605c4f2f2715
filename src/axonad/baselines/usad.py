"""USAD: reconstruction errors of two autoencoders with a shared encoder, one reading the other.

Audibert, Michiardi, Guyard, Marti, Zuluaga: USAD, unsupervised anomaly detection on multivariate
time series. KDD 2020.

Differs from the paper, as TSB-AD does, in one optimiser on the sum of the two losses: the
adversarial terms ±(1 - 1/n)·‖x - AE2(AE1(x))‖² cancel, and both autoencoders learn to reconstruct.
Outputs are linear; ``tsb_ad=True`` uses a sigmoid, which suits inputs in 0…1, and divides the loss
by the epoch, which nearly disables early stopping, to reproduce the published results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import mse_loss

from axonad.baselines._mlp import mlp
from axonad.baselines._neural import LEADERBOARD, NeuralDetector, parity_with
from axonad.config import check_float


class Net(nn.Module):
    """Windows (B, T·F) → AE1(x), AE2(x); AE2(AE1(x)) with :meth:`twice`."""

    def __init__(self, size: int, width: int, latent: int, *, sigmoid: bool) -> None:
        super().__init__()
        self.encoder = mlp(size, width, width, latent).append(nn.ReLU())
        last = nn.Sigmoid() if sigmoid else nn.Identity()
        self.decoder1 = mlp(latent, width, width, size).append(last)
        self.decoder2 = mlp(latent, width, width, size).append(last)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return both reconstructions of the windows."""
        z = self.encoder(x)
        return self.decoder1(z), self.decoder2(z)

    def twice(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return AE1(x) and AE2(AE1(x))."""
        first = self.decoder1(self.encoder(x))
        return first, self.decoder2(self.encoder(first))


@dataclass(kw_only=True, eq=False, repr=False)
class USAD(NeuralDetector):
    """Reconstruction error of one autoencoder, and of a second one that reads its output.

    Parameters
    ----------
    width, latent
        Width of the hidden layers and of the bottleneck.
    alpha
        Weight of the first autoencoder's error; the second has 1 - alpha.
    tsb_ad
        Sigmoid outputs, and a loss divided by the epoch (parity).
    """

    width: int = 16
    latent: int = 5
    alpha: float = 0.1
    weight_decay: float = 1e-5
    epochs: int = 10
    tsb_ad: bool = False

    lr_schedule = (5, 0.9)
    parity = parity_with(tsb_ad=True)
    leaderboard = LEADERBOARD

    def _build(self, channels: int) -> nn.Module:
        return Net(self.window * channels, self.width, self.latent, sigmoid=self.tsb_ad)

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        x = x.flatten(1)
        first, second = net(x)
        return (mse_loss(first, x) + mse_loss(second, x)) / (epoch + 1 if self.tsb_ad else 1)

    def _epoch_factor(self, epoch: int) -> float:
        return float(epoch)

    def _window_score(self, net: Any, x: Tensor) -> Tensor:
        flat = x.flatten(1)
        first, second = net.twice(flat)
        error: Tensor = self.alpha * (first - flat).square()
        error = error + (1 - self.alpha) * (second - flat).square()
        return error.view_as(x).mean(1)

    def _check_params(self) -> None:
        super()._check_params()
        check_float("alpha", self.alpha, low=0, high=1)
