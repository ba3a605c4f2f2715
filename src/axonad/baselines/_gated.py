"""Gated residual networks, which a Temporal Fusion Transformer is made of.

Where every variable has a network of its own, most of a training step is spent in them. Two linear
layers with nothing between them are one (:class:`Affine`): the weights are multiplied first, and
the rows, of which there are far more, once instead of twice.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, glu


class Affine(NamedTuple):
    """Of each of N variables: x → x @ weight + bias."""

    weight: Tensor  # (N, inner, outer)
    bias: Tensor  # (N, 1, outer)

    @classmethod
    def of(cls, layer: nn.Module) -> Affine:
        """Return the numbers of a layer of its own for each variable."""
        return cls(layer.get_parameter("weight"), layer.get_parameter("bias")[:, None])

    def after(self, first: Affine) -> Affine:
        """Return the layers that do what ``first`` and then these do."""
        return Affine(first.weight @ self.weight, first.bias @ self.weight + self.bias)

    def with_ones(self) -> Tensor:
        """Return the matrices (N, inner + 1, outer) for rows that end with a one."""
        return torch.cat([self.weight, self.bias], dim=1)

    def __call__(self, x: Tensor) -> Tensor:
        """Return rows (N, rows, inner) after these layers."""
        return torch.baddbmm(self.bias, x, self.weight)


class PerVariable(nn.Module):
    """A linear layer of its own for each variable: (N, rows, inner) → (N, rows, outer)."""

    def __init__(self, variables: int, inner: int, outer: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(inner)
        self.weight = nn.Parameter(torch.empty(variables, inner, outer).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(variables, outer).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Return each variable through its own layer."""
        return Affine.of(self)(x)


class Gate(nn.Module):
    """Adds to a shortcut as much of an input as it lets through, and normalises."""

    def __init__(self, inner: int, outer: int, dropout: float, variables: int = 0) -> None:
        super().__init__()
        self.linear = linear(inner, 2 * outer, variables)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(outer)

    def forward(self, x: Tensor, shortcut: Tensor) -> Tensor:
        """Return the normalised sum."""
        return self.pass_on(self.linear(x), shortcut)

    def pass_on(self, halves: Tensor, shortcut: Tensor) -> Tensor:
        """Return the normalised sum, from what the linear layer made of the input."""
        out: Tensor = self.norm(shortcut + self.dropout(glu(halves)))
        return out


class Residual(nn.Module):
    """The paper's gated residual network: as much non-linearity as is needed."""

    def __init__(
        self,
        inner: int,
        hidden: int,
        outer: int,
        dropout: float,
        *,
        context: int = 0,
        variables: int = 0,
    ) -> None:
        super().__init__()
        self.shortcut = nn.Identity() if inner == outer else nn.Linear(inner, outer)
        self.first = linear(inner, hidden, variables)
        self.context = nn.Linear(context, hidden, bias=False) if context else None
        self.second = linear(hidden, hidden, variables)
        self.gate = Gate(hidden, outer, dropout, variables)

    def forward(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """Return (..., outer)."""
        return self.bend(self.first(x), self.shortcut(x), context)

    def bend(self, h: Tensor, shortcut: Tensor, context: Tensor | None = None) -> Tensor:
        """Return (..., outer), from what the first layer and the shortcut made of the input."""
        if self.context is not None:
            h = h + self.context(context)
        if isinstance(self.second, PerVariable):
            halves = Affine.of(self.gate.linear).after(Affine.of(self.second))(elu(h))
            return self.gate.pass_on(halves, shortcut)
        out: Tensor = self.gate(self.second(elu(h)), shortcut)
        return out


def linear(inner: int, outer: int, variables: int) -> nn.Module:
    """Return a linear layer, or one for each variable."""
    return PerVariable(variables, inner, outer) if variables else nn.Linear(inner, outer)
