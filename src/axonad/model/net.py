"""The whole network, top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from axonad.data.windows import count_windows
from axonad.model.attention import Attention
from axonad.model.config import NetConfig
from axonad.model.embedding import QueryEncoder
from axonad.model.loss import WeightedLoss
from axonad.model.predictor import QueryPredictor
from axonad.model.target import MomentumTarget
from axonad.torch_runtime.windows import gather_windows


class Output(NamedTuple):
    """Outputs for a batch of windows; each part is that of all steps or of the last ones."""

    reconstruction: Tensor  # x̂  (B, T, F)
    predicted: Tensor  # q̂  (B, N, T, d)
    target: Tensor  # q* (B, N, T, d), without gradient


Consume = Callable[[int, Output, Tensor], None]
"""Receives the number of a batch's first window, its output and its windows x (B, T, F)."""


class AxonNet(nn.Module):
    """Reconstructs a window, and predicts its attention queries from past rows alone."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.config = config
        width = config.d_model
        self.online = QueryEncoder(config)
        self.attention = Attention(config)
        self.norm = nn.LayerNorm(width)
        self.widen = nn.Linear(width, 2 * width)
        self.narrow = nn.Linear(2 * width, width)
        self.head = nn.Linear(width, config.channels)
        self.predictor = QueryPredictor(config)
        self.target = MomentumTarget(self.online, momentum=config.ema)

    def forward(self, x: Tensor, last: int | None = None, decoded: int | None = None) -> Output:
        """Return reconstruction, predicted queries and target queries of windows (B, T, F).

        With ``last``, only the queries of that many last steps are computed, with ``decoded`` only
        the reconstruction of that many; a score needs no more.
        """
        h, H, q = self.online(x)
        seen = x if last is None else x[:, -last:]
        if decoded is not None:
            h, q = h[:, -decoded:], q[:, :, -decoded:]
        return Output(self.decode(h, H, q), self.predictor(H, last), self.target(seen))

    def decode(self, h: Tensor, H: Tensor, q: Tensor) -> Tensor:
        """Return the reconstruction (B, S, F) from h (B, S, D), H (B, T, D) and q (B, N, S, d)."""
        h = h + self.attention(q, H)  # the residual stream is h, not its norm
        h = h + self.narrow(relu(self.widen(self.norm(h))))
        reconstruction: Tensor = self.head(h)
        return reconstruction

    def make_loss(self) -> WeightedLoss:
        """Return the training objective of this network."""
        return WeightedLoss()

    def follow(self) -> None:
        """Move the target towards the online encoder; called after every optimiser step."""
        self.target.update(self.online)


def run_windows(
    net: AxonNet, series: Tensor, *, batch_size: int, consume: Consume, decoded: int | None = None
) -> None:
    """Call ``consume(first, output, x)`` for every batch of the windows of a series (n, F).

    This is the plain pass that ``fast/choose.py`` replaces; it computes the queries a score needs,
    and with ``decoded`` the reconstruction of that many last steps only.
    """
    window, last = net.config.window, net.config.scored_steps
    starts = torch.arange(count_windows(len(series), window), device=series.device)
    for first in range(0, len(starts), batch_size):
        x = gather_windows(series, starts[first : first + batch_size], window)
        consume(first, net(x, last=last, decoded=decoded), x)
