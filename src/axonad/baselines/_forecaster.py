"""The base of the neural baselines that predict a row from the rows before it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from axonad.baselines._neural import NeuralDetector


@dataclass(kw_only=True, eq=False, repr=False)
class Forecaster(NeuralDetector):
    """Base of the baselines that predict a row from the rows before it."""

    @property
    def history(self) -> int:
        """Rows a score needs: a window and the row predicted from it."""
        return self.window + 1

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        return mse_loss(net(x[:, :-1]), x[:, -1])

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        return torch.square(net(x[:, :-1]) - x[:, -1])
