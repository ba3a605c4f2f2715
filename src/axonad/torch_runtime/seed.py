"""Randomness that starts from a seed and leaves no trace outside."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_LOCK = threading.RLock()  # torch's generators are the process's: one seeded body at a time


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Run the body with torch's generators seeded, then put their states back."""
    with _LOCK, _kept(device):
        torch.default_generator.manual_seed(seed)
        if device.type == "cuda":
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        if device.type == "mps":
            torch.mps.manual_seed(seed)
        yield


def generator(seed: int, device: torch.device) -> torch.Generator:
    """Return a generator of the body's own: it goes on where the body's draws have come to."""
    if device.type != "cpu":
        return torch.Generator(device).manual_seed(seed)  # weights are drawn on the CPU
    own = torch.Generator()
    own.set_state(torch.get_rng_state())
    return own


@contextmanager
def _kept(device: torch.device) -> Iterator[None]:
    """Put the generators' states back at the end."""
    cuda = [device] if device.type == "cuda" else []
    mps = torch.mps.get_rng_state() if device.type == "mps" else None
    with torch.random.fork_rng(devices=cuda):
        try:
            yield
        finally:
            if mps is not None:
                torch.mps.set_rng_state(mps)
