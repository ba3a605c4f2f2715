"""Gated residual networks, the building block of a Temporal Fusion Transformer.

Most of a training step is spent where every variable has its own network. Two linear layers with
nothing between them are one (:class:`Affine`): it is cheaper to multiply their weights first than
to multiply the many rows twice.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, glu


class Affine(NamedTuple):
    """For each of N variables: x → x @ weight + bias."""

    weight: Tensor  # (N, inner, outer)
    bias: Tensor  # (N, 1, outer)

    @classmethod
    def of(cls, layer: nn.Module) -> Affine:
        """Return the weight and bias of a layer with separate weights per variable."""
        return cls(layer.get_parameter("weight"), layer.get_parameter("bias")[:, None])

    def after(self, first: Affine) -> Affine:
        """Return the composition: first ``first``, then this."""
        return Affine(first.weight @ self.weight, first.bias @ self.weight + self.bias)

    def with_ones(self) -> Tensor:
        """Return the matrices (N, inner + 1, outer) for rows with a one appended."""
        return torch.cat([self.weight, self.bias], dim=1)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the transformed rows (N, rows, outer) of rows (N, rows, inner)."""
        return torch.baddbmm(self.bias, x, self.weight)


class PerVariable(nn.Module):
    """A separate linear layer for each variable: (N, rows, inner) → (N, rows, outer)."""

    def __init__(self, variables: int, inner: int, outer: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(inner)
        self.weight = nn.Parameter(torch.empty(variables, inner, outer).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(variables, outer).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Return each variable transformed by its own layer."""
        return Affine.of(self)(x)


class Gate(nn.Module):
    """A gated linear unit with a shortcut and layer normalisation."""

    def __init__(self, inner: int, outer: int, dropout: float, variables: int = 0) -> None:
        super().__init__()
        self.linear = linear(inner, 2 * outer, variables)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(outer)

    def forward(self, x: Tensor, shortcut: Tensor) -> Tensor:
        """Return norm(shortcut + GLU(linear(x)))."""
        return self.forward_from(self.linear(x), shortcut)

    def forward_from(self, halves: Tensor, shortcut: Tensor) -> Tensor:
        """Return the same from the linear layer's output."""
        out: Tensor = self.norm(shortcut + self.dropout(glu(halves)))
        return out


class Residual(nn.Module):
    """The paper's gated residual network (GRN)."""

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
        return self.forward_from(self.first(x), self.shortcut(x), context)

    def forward_from(self, h: Tensor, shortcut: Tensor, context: Tensor | None = None) -> Tensor:
        """Return the same from the outputs of the first layer and of the shortcut."""
        if self.context is not None:
            h = h + self.context(context)
        if isinstance(self.second, PerVariable):
            halves = Affine.of(self.gate.linear).after(Affine.of(self.second))(elu(h))
            return self.gate.forward_from(halves, shortcut)
        out: Tensor = self.gate(self.second(elu(h)), shortcut)
        return out


def linear(inner: int, outer: int, variables: int) -> nn.Module:
    """Return a linear layer, with separate weights per variable if ``variables`` is not 0."""
    return PerVariable(variables, inner, outer) if variables else nn.Linear(inner, outer)
