"""The whole network, top to bottom."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from axonad.model.attention import Attention
from axonad.model.config import NetConfig
from axonad.model.embedding import QueryEncoder
from axonad.model.predictor import QueryPredictor
from axonad.model.target import MomentumTarget
from axonad.torch_runtime.weights import check_shapes

__all__ = ["AxonNet", "Output", "check_shapes"]  # check_shapes until axon.py imports weights.py


class Output(NamedTuple):
    """What one pass over a batch of windows gives; the queries of all steps or of the last ones."""

    reconstruction: Tensor  # x̂  (B, T, F)
    predicted: Tensor  # q̂  (B, N, T, d)
    target: Tensor  # q* (B, N, T, d), never with a gradient


class AxonNet(nn.Module):
    """Reconstructs a window and predicts, from history alone, where its attention will look."""

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

    def forward(self, x: Tensor, last: int | None = None) -> Output:
        """Return reconstruction, predicted queries and target queries of windows (B, T, F).

        With ``last`` only the queries of that many last steps are computed: all a score needs.
        """
        h, H, q = self.online(x)
        seen = x if last is None else x[:, -last:]
        return Output(self._decode(h, H, q), self.predictor(H, last), self.target(seen))

    def at_blocks(
        self, x: Tensor, starts: Tensor, span: int, generator: torch.Generator | None = None
    ) -> Output:
        """Return what forward does, the queries on ``span`` steps from each window's start (B,).

        A start must leave room before it for all the predictor sees: ``predictor.room`` steps.
        Dropout is drawn from the generator.
        """
        h, H, q = self.online(x)
        predicted = self.predictor.at_blocks(H, starts, span, generator)
        h = h + self.attention(q, H)
        z = relu(self.widen(self.norm(h)))
        # Narrowing and head as one product: fewer channels than widths, so less to multiply.
        both = self.head.weight @ self.narrow.weight
        bias = self.head.weight @ self.narrow.bias + self.head.bias
        reconstruction = linear(h, self.head.weight, bias) + linear(z, both)
        return Output(reconstruction, predicted, self.target.at_blocks(x, starts, span))

    def reconstruct(self, x: Tensor) -> Tensor:
        """Return the reconstruction alone (B, T, F)."""
        return self._decode(*self.online(x))

    def follow(self) -> None:
        """Let the target follow the weights; called after every optimiser step."""
        self.target.update(self.online)

    def _decode(self, h: Tensor, H: Tensor, q: Tensor) -> Tensor:
        h = h + self.attention(q, H)  # the residual stream is h, not its norm
        h = h + self.narrow(relu(self.widen(self.norm(h))))
        reconstruction: Tensor = self.head(h)
        return reconstruction
