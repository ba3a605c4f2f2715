"""Gaussians for the variational autoencoders: sampling, divergence, likelihood, output layers."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, softplus

from axonad.baselines._neural import parity_with

MIN_VARIANCE = 1e-8
LOG_2PI = 1.8378770664093453
PARITY = parity_with(patience=10)
"""The parameters of the variational autoencoders in the AxonAD paper's runs."""


class Gaussian(NamedTuple):
    """Mean and standard deviation of independent variables, of equal shape."""

    mean: Tensor
    std: Tensor

    def draw(self) -> Tensor:
        """Return one sample that gradients pass through (the reparametrisation trick)."""
        return self.mean + self.std * torch.randn_like(self.mean)

    def nll(self, x: Tensor) -> Tensor:
        """Return the negative log-likelihood of each value of ``x``."""
        return 0.5 * (((x - self.mean) / self.std).square() + LOG_2PI) + self.std.log()


def kl(q: Gaussian, p: Gaussian | None = None) -> Tensor:
    """Return KL(q ‖ p) of each variable; without ``p``, the standard Gaussian is used."""
    if p is None:
        return 0.5 * (q.mean.square() + q.std.square() - 1) - q.std.log()
    ratio = (q.std / p.std).square()
    return 0.5 * (((q.mean - p.mean) / p.std).square() + ratio - 1 - ratio.log())


class GaussianHead(nn.Module):
    """Features (..., D) → a Gaussian over (..., K)."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.mean = nn.Linear(inner, outer)
        self.spread = nn.Linear(inner, outer)

    def forward(self, x: Tensor) -> Gaussian:
        """Return the Gaussian; its variance is a softplus, hence positive."""
        weight = torch.cat([self.mean.weight, self.spread.weight])
        bias = torch.cat([self.mean.bias, self.spread.bias])
        mean, spread = linear(x, weight, bias).chunk(2, dim=-1)  # one product instead of two
        return Gaussian(mean, (softplus(spread) + MIN_VARIANCE).sqrt())


def warm_up(epoch: int, *, end: float, epochs: int = 25) -> float:
    """Return the weight of the KL term in epoch 1, 2, ...: linear from 0 to ``end``, then constant.

    >>> [warm_up(epoch, end=0.5, epochs=2) for epoch in (1, 2, 3, 4)]
    [0.0, 0.25, 0.5, 0.5]
    """
    return end * min(1.0, (epoch - 1) / epochs)


def with_noise(x: Tensor, level: float, *, training: bool) -> Tensor:
    """Return ``x`` plus Gaussian noise of standard deviation ``level`` in training, else ``x``."""
    return x + level * torch.randn_like(x) if training else x
