"""The networks of some baselines as their papers write them: slow, obvious, of equal weights.

Each twin takes a network and returns what its loss makes of windows while training; the network's
own way must give the same value and the same gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, mse_loss

Twin = Callable[[Any, nn.Module, Tensor], Tensor]
"""Detector, network, windows (B, T, F) → the loss."""


# -- AnomalyTransformer ------------------------------------------------------------------------


def prior_association(sigma: Tensor) -> Tensor:
    width = torch.pow(3.0, torch.sigmoid(5 * sigma) + 1e-5)[..., None] - 1
    rows = torch.arange(sigma.shape[-1], dtype=sigma.dtype)
    weight = torch.exp(-0.5 * ((rows[:, None] - rows) / width).square())
    return weight / weight.sum(-1, keepdim=True)


def discrepancy(series: Tensor, prior: Tensor) -> Tensor:
    def divergence(p: Tensor, q: Tensor) -> Tensor:
        return (p * ((p + 1e-4).log() - (q + 1e-4).log())).sum(-1).mean(1)

    return divergence(series, prior) + divergence(prior, series)


def anomaly_transformer(detector: Any, net: Any, x: Tensor) -> Tensor:
    tokens, phases = net.embedding(x), []
    for layer in net.layers:
        q, k, v = (
            part.unflatten(-1, (detector.heads, -1)).transpose(1, 2)
            for part in layer.projection(tokens).chunk(3, dim=-1)
        )
        series = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
        prior = prior_association(layer.sigma(tokens).transpose(1, 2))
        tokens = layer.norm1(tokens + layer.out((series @ v).transpose(1, 2).flatten(2)))
        tokens = layer.norm2(tokens + layer.narrow(gelu(layer.wide(tokens))))
        away = discrepancy(series, prior.detach()).mean()
        towards = discrepancy(series.detach(), prior).mean()
        phases.append(towards - away)
    back = net.head(net.norm(tokens))
    return 2 * mse_loss(back, x) + detector.discrepancy_weight * torch.stack(phases).mean()


TWINS: dict[str, Twin] = {"AnomalyTransformer": anomaly_transformer}
