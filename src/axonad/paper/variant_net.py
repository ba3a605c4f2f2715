"""The network of the ablations: the same one, told to predict something else or to learn otherwise.

=================================  =================================================================
``predicts``                       what is compared (predicted with target)
=================================  =================================================================
``queries``                        q̂ with q*, the paper's model
``keys``, ``values``               k̂ or v̂ of a second predictor with those of the moving average
``hidden``                         the predictor's whole output with H* = LN1*(h*)
``attention-from-queries``         the map of q̂ on the keys with the map attention itself has
``attention-from-queries-and-keys``  the same, the keys predicted too, by a second predictor
=================================  =================================================================

Vectors are compared by 1 - cos, maps by KL(attention ‖ predicted). A map has a row per query; over
``past`` keys, as the KL tail has it, step τ may look at keys up to τ - s, the last the predictor
knows of, and the predicted logits are multiplied by a learned temperature. Over ``all`` keys there
is neither. Legend of symbols: :mod:`axonad.model`.
"""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, mse_loss

from axonad.model.config import NetConfig, VariantConfig
from axonad.model.embedding import split_heads
from axonad.model.loss import WeightedLoss, query_distance
from axonad.model.net import AxonNet, Output
from axonad.model.predictor import QueryPredictor

COLDEST, HOTTEST = 0.25, 4.0  # bounds of the temperature


def make_net(config: NetConfig) -> AxonNet:
    """Return the network of a configuration, weights drawn anew."""
    return VariantNet(config) if isinstance(config, VariantConfig) else AxonNet(config)


def make_loss(config: NetConfig) -> WeightedLoss:
    """Return what is minimised in training the network of a configuration."""
    return VariantLoss(config) if isinstance(config, VariantConfig) else WeightedLoss()


class VariantNet(AxonNet):
    """``AxonNet`` whose outputs ``predicted`` and ``target`` are what the variant compares.

    Its first weights are those of an ``AxonNet`` of the same seed; what a variant adds is drawn
    after them.
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

    def forward(self, x: Tensor, last: int | None = None) -> Output:
        """Return reconstruction and, of all or the ``last`` steps, what is compared."""
        h, H, q = self.online(x)
        history = H.detach() if self.variant.detached else H
        predicted, target = self._compared(x, H.detach(), q.detach(), history, last)
        return Output(self._decode(h, H, q), predicted, target)

    def queries(self, x: Tensor, last: int | None = None) -> tuple[Tensor, Tensor]:
        """Return the query predictor's output and q*, whatever the variant compares."""
        seen = x if last is None else x[:, -last:]
        return self.predictor(self.online(x)[1], last), self.target(seen)

    def temperature(self) -> Tensor | None:
        """Return what predicted logits are multiplied by; None where nothing is."""
        if not self.variant.compares_maps:
            return None
        return self.log_temperature.exp().clamp(COLDEST, HOTTEST)

    def follow(self) -> None:
        """Let the target follow the weights, and what reads keys or values of it."""
        super().follow()
        if self.variant.predicts in ("keys", "values"):
            with torch.no_grad():
                self.slow.weight.lerp_(self._reader().weight, 1 - self.config.ema)

    def _reader(self) -> nn.Linear:
        return self.attention.key if self.variant.predicts == "keys" else self.attention.value

    def _compared(
        self, x: Tensor, H: Tensor, q: Tensor, history: Tensor, last: int | None
    ) -> tuple[Tensor, Tensor]:
        """Return prediction and target; H and q without a gradient, ``history`` with or without."""
        heads, steps = self.config.heads, slice(-(last or x.shape[1]), None)
        if self.variant.predicts == "queries":
            return self.predictor(history, last), self.target(x[:, steps])
        if self.variant.predicts in ("keys", "values"):
            with torch.no_grad():
                target = self.slow(self.target.encoder(x[:, steps])[1])
            return self.second(history, last), split_heads(target, heads)
        found = self.predictor(history, last)
        if self.variant.predicts == "hidden":  # no heads: one vector of the whole width
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
    """Both losses weighted as ever, or one of them alone as it is."""

    def __init__(self, config: VariantConfig) -> None:
        super().__init__()
        self.config = config

    def forward(self, output: Output, x: Tensor, mask: Tensor) -> Tensor:
        """Return the scalar to minimise."""
        reconstruction = mse_loss(output.reconstruction, x)
        if self.config.trains == "reconstruction":
            return reconstruction
        prediction = (mismatch(output, self.config) * mask).sum() / mask.sum()
        if self.config.trains == "prediction":
            return prediction
        return self.weigh(reconstruction, prediction)
