"""A stack of linear layers, which several networks contain."""

from __future__ import annotations

from itertools import pairwise

from torch import nn


def mlp(*widths: int, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Return linear layers of these widths, input first, with activations between them."""
    layers: list[nn.Module] = []
    for inner, outer in pairwise(widths):
        layers += [nn.Linear(inner, outer), activation()]
    return nn.Sequential(*layers[:-1])
