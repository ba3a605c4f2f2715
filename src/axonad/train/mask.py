"""Which steps of each window the predictor is judged on while training."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def mask_plan(
    *, window: int, horizon: int, mask_ratio: float, block_fraction: float
) -> tuple[int, int, int]:
    """Return (tail, span, blocks): masks lie in the last ``tail`` steps.

    Each of ``blocks`` blocks covers ``span`` consecutive steps. Python's ``round`` (half to even)
    is part of the definition.

    >>> mask_plan(window=100, horizon=1, mask_ratio=0.5, block_fraction=0.5)
    (49, 24, 1)
    """
    tail = max(1, (window - horizon) // 2)
    span = min(tail, max(1, round(tail * block_fraction)))
    blocks = max(1, math.ceil(round(tail * mask_ratio) / span))
    return tail, span, blocks


def sample_mask(
    batch: int, *, window: int, plan: tuple[int, int, int], device: torch.device
) -> Tensor:
    """Return a float mask (B, T), 1 on masked steps, drawn on the device in one go.

    A block lies wholly inside the tail; its start is uniform over the places where it fits.
    """
    return mask_blocks(draw_blocks(batch, window=window, plan=plan, device=device), window, plan[1])


def draw_blocks(
    batch: int,
    *,
    window: int,
    plan: tuple[int, int, int],
    device: torch.device,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return where the blocks of each window begin (B, blocks, 1)."""
    tail, span, blocks = plan
    shape = batch, blocks, 1
    return torch.randint(
        window - tail, window - span + 1, shape, device=device, generator=generator
    )


def mask_blocks(starts: Tensor, window: int, span: int) -> Tensor:
    """Return a float mask (B, T), 1 on the ``span`` steps from each start (B, blocks, 1) on."""
    steps = torch.arange(window, device=starts.device)
    inside = (steps >= starts) & (steps < starts + span)
    return inside.any(1).float()
