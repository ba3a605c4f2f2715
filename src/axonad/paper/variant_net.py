"""The network of the ablations: AxonNet with another prediction target or training objective.

=================================  =================================================================
``predicts``                       what is compared (predicted with target)
=================================  =================================================================
``queries``                        q̂ with q*, the paper's model
``keys``, ``values``               k̂ or v̂ of a second predictor with those of the moving average
``hidden``                         the predictor's whole output with H* = LN1*(h*)
``attention-from-queries``         the attention map of q̂ with that of the network's own queries
``attention-from-queries-and-keys``  the same, the keys predicted too, by a second predictor
=================================  =================================================================

Vectors are compared by 1 - cos, maps by KL(attention ‖ predicted). A map has a row per query; over
``past`` keys, as in the paper's KL tail, step τ may attend to keys up to τ - s, the newest that the
predictor sees, and predicted logits are multiplied by a learned temperature. Over ``all`` keys
there is neither mask nor temperature. Legend of symbols: :mod:`axonad.model`.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, mse_loss

from axonad.model.config import NetConfig
from axonad.model.embedding import split_heads
from axonad.model.loss import WeightedLoss, masked_mean, query_distance
from axonad.model.net import AxonNet, Output
from axonad.model.predictor import QueryPredictor

COLDEST, HOTTEST = 0.25, 4.0  # bounds of the temperature


PREDICTS = (
    "queries", "keys", "values", "hidden",
    "attention-from-queries", "attention-from-queries-and-keys",
)  # fmt: skip
TRAINS = ("both", "reconstruction", "prediction")
MAP_KEYS = ("past", "all")


@dataclass(frozen=True, kw_only=True)
class VariantConfig(NetConfig):
    """A network that predicts something else, or minimises something else.

    ``predicts`` is one of PREDICTS, ``trains`` selects the losses that count, ``detached`` stops
    the predictor's gradient before the embedding, ``map_keys`` selects the keys that attention
    maps are compared on.
    """

    predicts: str
    trains: str
    detached: bool
    map_keys: str

    @property
    def compares_maps(self) -> bool:
        """Whether attention maps are predicted, which are compared by their KL divergence."""
        return self.predicts.startswith("attention")

    @property
    def is_standard(self) -> bool:
        """Return False: the plain network computes every variant."""
        return False


class VariantNet(AxonNet):
    """``AxonNet`` whose outputs ``predicted`` and ``target`` are what the variant compares.

    Weights shared with an ``AxonNet`` of the same seed are equal; others are drawn after them.
    """

    def __init__(self, config: VariantConfig) -> None:
        super().__init__(config)
        self.variant = config
        if config.predicts in ("keys", "values", "attention-from-queries-and-keys"):
            self.second = QueryPredictor(config)
        if config.predicts in ("keys", "values"):
            self.slow = copy.deepcopy(self._reader()).requires_grad_(False)
        if config.compares_maps:
            self.log_temperature = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor, last: int | None = None, decoded: int | None = None) -> Output:
        """Return the reconstruction, and prediction and target of all or the ``last`` steps."""
        h, H, q = self.online(x)
        history = H.detach() if self.variant.detached else H
        predicted, target = self._compared(x, H.detach(), q.detach(), history, last)
        if decoded is not None:
            h, q = h[:, -decoded:], q[:, :, -decoded:]
        return Output(self.decode(h, H, q), predicted, target)

    def queries(self, x: Tensor, last: int | None = None) -> tuple[Tensor, Tensor]:
        """Return the query predictor's output and q*, whatever the variant compares."""
        seen = x if last is None else x[:, -last:]
        return self.predictor(self.online(x)[1], last), self.target(seen)

    def temperature(self) -> Tensor | None:
        """Return the factor of predicted logits, None for variants that have none."""
        if not self.variant.compares_maps:
            return None
        return self.log_temperature.exp().clamp(COLDEST, HOTTEST)

    def make_loss(self) -> WeightedLoss:
        """Return the loss that ``trains`` selects."""
        return VariantLoss(self.variant)

    def follow(self) -> None:
        """Move the target and the EMA copy of the key or value projection."""
        super().follow()
        if self.variant.predicts in ("keys", "values"):
            with torch.no_grad():
                self.slow.weight.lerp_(self._reader().weight, 1 - self.config.ema)

    def _reader(self) -> nn.Linear:
        return self.attention.key if self.variant.predicts == "keys" else self.attention.value

    def _compared(
        self, x: Tensor, H: Tensor, q: Tensor, history: Tensor, last: int | None
    ) -> tuple[Tensor, Tensor]:
        """Return prediction and target; H and q are detached, ``history`` may carry a gradient."""
        heads, steps = self.config.heads, slice(-(last or x.shape[1]), None)
        if self.variant.predicts == "queries":
            return self.predictor(history, last), self.target(x[:, steps])
        if self.variant.predicts in ("keys", "values"):
            with torch.no_grad():
                target = self.slow(self.target.encoder(x[:, steps])[1])
            return self.second(history, last), split_heads(target, heads)
        found = self.predictor(history, last)
        if self.variant.predicts == "hidden":  # one vector of full width, not one per head
            with torch.no_grad():
                target = self.target.encoder(x[:, steps])[1]
            return found.transpose(1, 2).flatten(2)[:, None], target[:, None]
        keys = split_heads(self.attention.key(H), heads).detach()
        guessed = self.second(history) if hasattr(self, "second") else keys
        past = self.variant.map_keys == "past"
        horizon, warmth = (self.config.horizon, self.temperature()) if past else (None, None)
        return (
            log_map(found, guessed, horizon=horizon, temperature=warmth),
            log_map(q[:, :, steps], keys, horizon=horizon),
        )


def log_map(
    q: Tensor, k: Tensor, *, horizon: int | None, temperature: Tensor | None = None
) -> Tensor:
    """Return the logarithm of attention (B, N, t, T) of the last t queries on keys (B, N, T, d).

    With a horizon s, step τ sees the keys up to τ - s, at least the first.
    """
    logits = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if temperature is not None:
        logits = logits * temperature
    if horizon is not None:
        steps, window = logits.shape[-2:]
        key = torch.arange(window, device=q.device)
        newest = (key[-steps:] - horizon).clamp(min=0)[:, None]
        logits = logits.masked_fill(key > newest, torch.finfo(logits.dtype).min)
    return log_softmax(logits, dim=-1)


def map_divergence(predicted: Tensor, target: Tensor) -> Tensor:
    """Return KL(target ‖ predicted) averaged over heads, (B, t) from logarithms (B, N, t, T)."""
    return (target.exp() * (target - predicted)).sum(-1).mean(1)


def mismatch(output: Output, config: NetConfig) -> Tensor:
    """Return how far prediction and target of a network lie apart at each step, (B, t)."""
    maps = isinstance(config, VariantConfig) and config.compares_maps
    return (map_divergence if maps else query_distance)(output.predicted, output.target)


class VariantLoss(WeightedLoss):
    """Both losses with learned weights, or one of them alone and unweighted."""

    def __init__(self, config: VariantConfig) -> None:
        super().__init__()
        self.config = config

    def forward(self, output: Output, x: Tensor, mask: Tensor) -> Tensor:
        """Return the scalar to minimise."""
        reconstruction = mse_loss(output.reconstruction, x)
        if self.config.trains == "reconstruction":
            return reconstruction
        prediction = masked_mean(mismatch(output, self.config), mask)
        if self.config.trains == "prediction":
            return prediction
        return self.weigh(reconstruction, prediction)
