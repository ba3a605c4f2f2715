"""M2N2: an autoencoder that follows the trend and keeps training on rows that look normal.

Kim, Park, Choo: When model meets new normals, test-time adaptation for unsupervised time-series
anomaly detection. AAAI 2024.

Differs from the paper and from TSB-AD in scoring every row by the window that ends with it; as
there, one optimiser step is made per ``batch_size`` non-overlapping windows. Each call adapts a
copy of the fitted network, so that scoring changes nothing. With ``adapt=True`` a score depends on
all rows before it and on the rest of its batch, so the detector is not causal and cannot score
streams; with ``adapt=False`` it can.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from axonad.baselines._mlp import mlp
from axonad.baselines._neural import NeuralDetector, Scores, parity_with
from axonad.config import check_float
from axonad.data.frames import Matrix
from axonad.data.windows import count_windows
from axonad.torch_runtime.device import resolve_device
from axonad.torch_runtime.windows import gather_windows


class Net(nn.Module):
    """Windows (B, T, F) → their reconstruction around a level that can follow the series."""

    level: Tensor
    limit: Tensor

    def __init__(self, channels: int, window: int, latent: int) -> None:
        super().__init__()
        size = window * channels
        half, quarter = max(1, size // 2), max(1, size // 4)
        widths = (size, half, quarter, latent, quarter, half, size)
        self.layers = nn.Sequential(nn.Flatten(), *mlp(*widths))
        self.register_buffer("level", torch.zeros(channels))
        self.register_buffer("limit", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Return the reconstruction."""
        back: Tensor = self.layers(x - self.level)
        return back.view_as(x) + self.level


@dataclass(kw_only=True, eq=False, repr=False)
class M2N2(NeuralDetector):
    """Reconstruction error of an autoencoder that adapts to new normals while it scores.

    Parameters
    ----------
    latent
        Width of the bottleneck.
    adapt
        Follow trend and new normals while scoring.
    momentum
        Momentum of the level's moving average.
    limit
        Rows with an error above this quantile of training errors are not trained on.
    """

    window: int = 12
    latent: int = 128
    adapt: bool = True
    momentum: float = 0.99
    limit: float = 0.95
    epochs: int = 10
    align: str = "end"

    lr_schedule = (1, 1.0)
    parity = parity_with(validation=0.0, patience=10)

    @property
    def why_not_causal(self) -> str:
        """Why a score depends on more than its own window, and what to do; empty if causal."""
        if self.adapt:
            return "it adapts to what it scores; fit it with adapt=False"
        return super().why_not_causal

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, self.window, self.latent)

    @torch.no_grad()
    def _calibrate(self, net: nn.Module, series: Tensor) -> None:
        starts = torch.arange(0, len(series) - self.window + 1, self.window, device=series.device)
        errors = []
        for part in torch.split(starts, self.score_batch):
            x = gather_windows(series, part, self.window)
            errors.append((net(x) - x).square().mean(-1).flatten().cpu().numpy())
        net.get_buffer("limit").fill_(float(np.quantile(np.concatenate(errors), self.limit)))

    def _score_windows(
        self, X: Matrix, *, blame: bool = False
    ) -> tuple[Scores, NDArray[np.float32]]:
        if not self.adapt:
            return super()._score_windows(X, blame=blame)
        device = resolve_device(self.device)
        series = self._tensor(X, device)
        starts = torch.arange(count_windows(len(X), self.window), device=device)
        errors = self._adapt_and_score(copy.deepcopy(self._net).to(device), series, starts)
        scores = errors.mean(-1).double().cpu().numpy()
        return scores, errors.cpu().numpy()

    @torch.enable_grad()
    def _adapt_and_score(self, net: nn.Module, series: Tensor, starts: Tensor) -> Tensor:
        """Return the error of every window's last row (n, F) while adapting ``net`` in place."""
        optimiser = torch.optim.SGD(net.requires_grad_(True).parameters(), lr=self.lr)
        level, limit = net.get_buffer("level"), net.get_buffer("limit")
        errors = series.new_empty(len(starts), series.shape[1])
        for part in torch.split(starts, min(self.batch_size * self.window, len(starts))):
            x = gather_windows(series, part, self.window)
            level.lerp_(x.mean((0, 1)), 1 - self.momentum)
            error = (net(x) - x).square()
            errors[part] = error[:, -1].detach()
            step = error.mean(-1)
            optimiser.zero_grad(set_to_none=True)
            (step * (step < limit)).mean().backward()
            optimiser.step()
        return errors

    def _check_params(self) -> None:
        super()._check_params()
        check_float("momentum", self.momentum, low=0, high=1)
        check_float("limit", self.limit, low=0, high=1)
