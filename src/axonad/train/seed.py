"""Randomness that starts from a seed and leaves no trace outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Run the body with torch's generators seeded, then put their states back."""
    cuda = [device] if device.type == "cuda" else []
    mps = torch.mps.get_rng_state() if device.type == "mps" else None
    with torch.random.fork_rng(devices=cuda):
        torch.default_generator.manual_seed(seed)
        if cuda:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        if mps is not None:
            torch.mps.manual_seed(seed)
        try:
            yield
        finally:
            if mps is not None:
                torch.mps.set_rng_state(mps)
