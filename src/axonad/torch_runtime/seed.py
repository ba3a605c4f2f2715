"""Reproducible random numbers that leave the process's RNG state as it was."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_LOCK = threading.RLock()  # torch's RNGs belong to the process: one seeded block at a time


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Run the body with torch's RNGs seeded, then restore their states."""
    with _LOCK, _restored(device):
        torch.default_generator.manual_seed(seed)
        if device.type == "cuda":
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        if device.type == "mps":
            torch.mps.manual_seed(seed)
        yield


def generator(seed: int, device: torch.device) -> torch.Generator:
    """Return a new generator; on a CPU it continues from the current RNG state."""
    if device.type != "cpu":  # nothing was drawn on it yet: weights are drawn on the CPU
        return torch.Generator(device).manual_seed(seed)
    own = torch.Generator()
    own.set_state(torch.get_rng_state())
    return own


@contextmanager
def _restored(device: torch.device) -> Iterator[None]:
    """Restore torch's RNG states at the end."""
    cuda = [device] if device.type == "cuda" else []
    mps = torch.mps.get_rng_state() if device.type == "mps" else None
    with torch.random.fork_rng(devices=cuda):
        try:
            yield
        finally:
            if mps is not None:
                torch.mps.set_rng_state(mps)
