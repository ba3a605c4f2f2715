"""AutoEncoder: reconstruction error of rows by a network with a bottleneck.

Aggarwal: Outlier Analysis, chapter 3. Springer 2015; the network is PyOD's (Zhao, Nasrullah, Li:
PyOD, a Python toolbox for scalable outlier detection. JMLR 20, 2019).

Differs from TSB-AD, which rescales each row to 0…1 over its channels and ends in a ReLU, so that
negative values cannot be reconstructed; ``tsb_ad=True`` does both, to reproduce the published
results. With ``window`` above 1 it sees that many rows at a time, as TSB-AD does for a single
channel.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from axonad.baselines._neural import NeuralDetector, parity_with
from axonad.data.frames import Matrix


class Net(nn.Module):
    """Windows (B, T, F) → their reconstruction."""

    def __init__(self, size: int, hidden: tuple[int, ...], dropout: float, *, relu: bool) -> None:
        super().__init__()
        widths = (size, *hidden, *hidden[-2::-1])
        layers: list[nn.Module] = [nn.Flatten()]
        for inner, outer in itertools.pairwise(widths):
            layers += [nn.Linear(inner, outer), nn.BatchNorm1d(outer)]
            layers += [nn.ReLU(), nn.Dropout(dropout)]
        layers += [nn.Linear(widths[-1], size)] + [nn.ReLU()] * relu
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """Return the reconstruction."""
        back: Tensor = self.layers(x)
        return back.view_as(x)


@dataclass(kw_only=True, eq=False, repr=False)
class AutoEncoder(NeuralDetector):
    """Squared reconstruction error of each row (or window).

    Parameters
    ----------
    hidden
        Widths of the encoder's layers; the decoder mirrors them.
    dropout
        Dropout rate.
    tsb_ad
        Rescale each row to 0…1 and end in a ReLU (parity).
    """

    window: int = 1
    hidden: tuple[int, ...] = (128, 64)
    dropout: float = 0.2
    weight_decay: float = 1e-5
    tsb_ad: bool = False

    lr_schedule = (1, 1.0)
    parity = parity_with(scaling="train", tsb_ad=True, validation=0.0, patience=50)

    def _preprocess(self, X: Matrix) -> Matrix:
        if not self.tsb_ad:
            return X
        low, high = X.min(axis=1, keepdims=True), X.max(axis=1, keepdims=True)
        return np.asarray((X - low) / np.where(high > low, high - low, 1))

    def _build(self, channels: int) -> nn.Module:
        return Net(self.window * channels, self.hidden, self.dropout, relu=self.tsb_ad)

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        return torch.square(net(x) - x).mean(1)
