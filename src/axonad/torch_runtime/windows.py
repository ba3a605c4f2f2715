"""Batches of windows, gathered from a series when they are needed."""

from __future__ import annotations

import torch
from torch import Tensor


def gather_windows(series: Tensor, starts: Tensor, window: int) -> Tensor:
    """Return the windows (B, T, F) of a series (n, F) that begin at ``starts`` (B,)."""
    steps = torch.arange(window, device=series.device)
    return series[starts[:, None] + steps]
