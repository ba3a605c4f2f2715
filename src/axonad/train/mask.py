"""Which steps of each window the predictor is trained on."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor


class MaskPlan(NamedTuple):
    """Each window has ``blocks`` masked blocks of ``span`` steps, all inside its last ``tail``."""

    tail: int
    span: int
    blocks: int


def mask_plan(*, window: int, horizon: int, mask_ratio: float, block_fraction: float) -> MaskPlan:
    """Return where masks may lie. Python's ``round`` (half to even) is part of the definition.

    >>> mask_plan(window=100, horizon=1, mask_ratio=0.5, block_fraction=0.5)
    MaskPlan(tail=49, span=24, blocks=1)
    """
    tail = max(1, (window - horizon) // 2)
    span = min(tail, max(1, round(tail * block_fraction)))
    return MaskPlan(tail, span, max(1, math.ceil(round(tail * mask_ratio) / span)))


def draw_blocks(
    batch: int,
    *,
    window: int,
    plan: MaskPlan,
    device: torch.device,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return the first steps (B, blocks, 1) of each window's blocks, uniform where they fit."""
    first, stop = window - plan.tail, window - plan.span + 1
    shape = batch, plan.blocks, 1
    return torch.randint(first, stop, shape, device=device, generator=generator)


def mask_blocks(starts: Tensor, window: int, span: int) -> Tensor:
    """Return a float mask (B, T): 1 on ``span`` steps from each start (B, blocks, 1)."""
    steps = torch.arange(window, device=starts.device)
    inside = (steps >= starts) & (steps < starts + span)
    return inside.any(1).float()
