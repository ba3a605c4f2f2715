"""The part of every matrix product that depends on a row alone, so that windows can share it.

The embedding is linear and LN1 divides by one number per step, so a linear map M of H = LN1(h) is

    M H = (row + step) / σ + constant,    row = x (M G C We)ᵀ,  step = M G C (be + P),

where G is the gain of LN1 and C subtracts the mean. ``row`` is the same in all T windows that
contain the row; ``step`` and ``constant`` are the same in all windows of all series. σ² is the mean
over D of (row + step)² for M = G = 1, which multiplies out and needs no h either.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from axonad.model.embedding import QueryEncoder


@dataclass(frozen=True, eq=False)
class Folded:
    """A linear map of H as a sum of row and step parts; O is the number of its outputs."""

    rows: Tensor  # (F, O): x → row
    steps: Tensor  # (T, O)
    constant: Tensor  # (O,)


@dataclass(frozen=True, eq=False)
class Spread:
    """What σ is computed from, in double precision because large sums may cancel."""

    rows: Tensor  # (F, D): x → C We x
    steps: Tensor  # (D, T): C (be + P)
    squares: Tensor  # (T,): squared norms of the steps
    eps: float

    def inverse(self, x: Tensor) -> Tensor:
        """Return 1 / σ (R, T) of rows x (R, F), each at every step of a window."""
        row = x.double() @ self.rows
        square = torch.addmm(self.squares, row, self.steps, alpha=2)
        square += row.square().sum(1, keepdim=True)
        return square.clamp_(min=0).div_(row.shape[1]).add_(self.eps).rsqrt_().to(x.dtype)


def fold(encoder: QueryEncoder, matrix: Tensor) -> Folded:
    """Return ``matrix`` (O, D) as a map of the encoder's H."""
    rows, steps = centred(encoder)
    scaled = matrix * encoder.norm.weight
    return Folded(rows @ scaled.T, steps @ scaled.T, matrix @ encoder.norm.bias)


def fold_spread(encoder: QueryEncoder, device: torch.device) -> Spread:
    """Return what the encoder's σ is computed from."""
    rows, steps = (part.double().to(device) for part in centred(encoder))
    return Spread(rows, steps.T.contiguous(), steps.square().sum(1), encoder.norm.eps)


def centred(encoder: QueryEncoder) -> tuple[Tensor, Tensor]:
    """Return embedding (F, D) and steps (T, D) without their means over D."""
    weight = encoder.embed.weight - encoder.embed.weight.mean(0)
    steps = encoder.position + encoder.embed.bias
    return weight.T.contiguous(), steps - steps.mean(1, keepdim=True)
