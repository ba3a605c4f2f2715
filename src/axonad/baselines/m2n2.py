"""M2N2: an autoencoder that follows the trend and keeps training on rows that look normal.

Kim, Park, Choo: When model meets new normals, test-time adaptation for unsupervised time-series
anomaly detection. AAAI 2024.

Differs from the paper and from TSB-AD, unless ``overlap=False``, in training on the window that
starts at every row and in scoring a row by the window that ends with it; there, windows follow one
another without overlap, and a row is scored at its own place in its window. One optimiser step is
made per ``batch_size`` non-overlapping windows in all cases. TSB-AD stops early by the last batch
of its validation windows, we by all of them. Each call adapts a copy of the fitted network, so that
scoring changes nothing. With ``adapt=True`` a score depends on all rows before it and on the rest
of its batch, so the detector is not causal and cannot score streams; with ``adapt=False`` it can.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

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
from axonad.torch_runtime.windows import Windows, gather_windows


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
    overlap
        Train on the windows at every row and score a row by the window that ends with it. False:
        windows without overlap, each row scored at its own place, ignoring ``align`` (parity).
    """

    window: int = 12
    latent: int = 128
    adapt: bool = True
    momentum: float = 0.99
    limit: float = 0.95
    overlap: bool = True
    epochs: int = 10
    align: str = "end"

    lr_schedule = (1, 1.0)
    parity = parity_with(
        overlap=False, latent=16, limit=0.9, epochs=100, batch_size=64, patience=5, align="end"
    )
    leaderboard: ClassVar[Mapping[str, Any]] = {
        "overlap": True, "latent": 128, "limit": 0.95, "epochs": 10, "batch_size": 128,
        "patience": 10, "validation": 0.0, "align": "center",
    }  # fmt: skip

    @property
    def why_not_causal(self) -> str:
        """Why a score depends on more than its own window, and what to do; empty if causal."""
        if self.adapt:
            return "it adapts to what it scores; fit it with adapt=False"
        if not self.overlap:
            return "a row's window goes on after it; fit it with overlap=True"
        return super().why_not_causal

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, self.window, self.latent)

    @torch.no_grad()
    def _calibrate(self, net: nn.Module, series: Windows) -> None:
        side_by_side = Windows(series.rows, self.window, series.recordings, stride=self.window)
        errors = []
        for part in torch.split(side_by_side.starts, self.score_batch):
            x = gather_windows(series.rows, part, self.window)
            errors.append((net(x) - x).square().mean(-1).flatten().cpu().numpy())
        net.get_buffer("limit").fill_(float(np.quantile(np.concatenate(errors), self.limit)))

    @property
    def _stride(self) -> int:
        return 1 if self.overlap else self.window

    def _score_windows(
        self, X: Matrix, *, blame: bool = False
    ) -> tuple[Scores, NDArray[np.float32]]:
        """Return the score of every window, or of every row without overlap, and its channels'."""
        if self.overlap and not self.adapt:
            return super()._score_windows(X, blame=blame)
        device = resolve_device(self.device)
        errors = self._follow(copy.deepcopy(self._net).to(device), self._tensor(X, device))
        scores = errors.mean(-1).double().cpu().numpy()
        return scores, errors.cpu().numpy()

    @torch.enable_grad()
    def _follow(self, net: nn.Module, series: Tensor) -> Tensor:
        """Return the errors (n, F) of the windows' last rows, or of all rows without overlap.

        With ``adapt``, ``net`` is adapted in place on the way.
        """
        optimiser = torch.optim.SGD(net.requires_grad_(self.adapt).parameters(), lr=self.lr)
        level, limit = net.get_buffer("level"), net.get_buffer("limit")
        count = count_windows(len(series), self.window)
        starts = torch.arange(0, count, self._stride, device=series.device)
        errors = series.new_empty(count if self.overlap else len(series), series.shape[1])
        size, done = self.batch_size * self.window // self._stride, 0
        for part in torch.split(starts, min(size, len(starts))):
            x = gather_windows(series, part, self.window)
            if self.adapt:
                level.lerp_(x.mean((0, 1)), 1 - self.momentum)
            error = (net(x) - x).square()
            found = (error[:, -1:] if self.overlap else error).detach().flatten(0, 1)
            errors[done : done + len(found)] = found
            done += len(found)
            if self.adapt:
                step = error.mean(-1)
                optimiser.zero_grad(set_to_none=True)
                (step * (step < limit)).mean().backward()
                optimiser.step()
        errors[done:] = errors[done - 1]  # rows after the last whole window
        return errors

    def _aligned(self, values: NDArray[Any]) -> NDArray[Any]:
        return super()._aligned(values) if self.overlap else values

    def _check_params(self) -> None:
        super()._check_params()
        check_float("momentum", self.momentum, low=0, high=1)
        check_float("limit", self.limit, low=0, high=1)
