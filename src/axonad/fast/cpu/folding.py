"""What windows share: the part of every product that depends on a row alone.

The embedding is linear and LN1 divides by one number per step, so a linear map M of H = LN1(h) is

    M H = (row + step) / σ + constant,    row = x (M G C We)ᵀ,  step = M G C (be + P),

with G the norm's gain and C the removal of the mean. ``row`` is the same in all T windows that hold
the row, ``step`` and ``constant`` in all windows of all series. Nor does σ need h: its square is
the mean of (row + step)² for M = G = 1, and that multiplies out.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from axonad.model.embedding import QueryEncoder


@dataclass(frozen=True, eq=False)
class Folded:
    """A linear map of H, multiplied out; O is how many values it gives."""

    weight: Tensor  # (F, O): x → row
    steps: Tensor  # (T, O)
    constant: Tensor  # (O,)

    def to(self, like: Tensor) -> Folded:
        """Return it with another tensor's type and device."""
        parts = self.weight, self.steps, self.constant
        return Folded(*(part.to(like).contiguous() for part in parts))


@dataclass(frozen=True, eq=False)
class Spread:
    """What σ is made of, always in double: large sums may cancel."""

    weight: Tensor  # (F, D): x → C We x
    steps: Tensor  # (D, T): C (be + P)
    squares: Tensor  # (T,): of the steps, summed over D
    eps: float

    def inverse(self, x: Tensor) -> Tensor:
        """Return 1 / σ (R, T) of rows x (R, F), each at every step of a window."""
        row = x.double() @ self.weight
        square = torch.addmm(self.squares, row, self.steps, alpha=2)
        square += row.square().sum(1, keepdim=True)
        return square.clamp_(min=0).div_(row.shape[1]).add_(self.eps).rsqrt_().to(x.dtype)


def fold(encoder: QueryEncoder, matrix: Tensor) -> Folded:
    """Return ``matrix`` (O, D) as a map of the encoder's H."""
    weight, steps = centred(encoder)
    scaled = matrix * encoder.norm.weight
    return Folded(weight @ scaled.T, steps @ scaled.T, matrix @ encoder.norm.bias)


def fold_spread(encoder: QueryEncoder, device: torch.device) -> Spread:
    """Return what the encoder's σ is made of."""
    weight, steps = (part.double().to(device) for part in centred(encoder))
    return Spread(weight, steps.T.contiguous(), steps.square().sum(1), encoder.norm.eps)


def centred(encoder: QueryEncoder) -> tuple[Tensor, Tensor]:
    """Return embedding (F, D) and steps (T, D) without their means over D."""
    weight = encoder.embed.weight - encoder.embed.weight.mean(0)
    steps = encoder.position + encoder.embed.bias
    return weight.T.contiguous(), steps - steps.mean(1, keepdim=True)


def slide(rows: Tensor, *, first: int, windows: int, steps: int) -> Tensor:
    """Return a view (..., B, steps, O) of rows (..., R, O): what B windows see, a row on each."""
    *outer, down, across = rows.stride()
    return rows.as_strided(
        (*rows.shape[:-2], windows, steps, rows.shape[-1]),
        (*outer, down, down, across),
        rows.storage_offset() + first * down,
    )


def slide_down(table: Tensor, *, first: int, step: int, windows: int, steps: int) -> Tensor:
    """Return a view (B, steps, 1) of a table (R, T): row ``first + step`` at ``step``, and on."""
    down, across = table.stride()
    return table.as_strided(
        (windows, steps, 1),
        (down, down + across, 1),
        table.storage_offset() + first * down + step * (down + across),
    )
