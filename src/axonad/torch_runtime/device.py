"""The torch device a network runs on."""

from __future__ import annotations

import torch

from axonad.errors import ConfigError


def resolve_device(name: str) -> torch.device:
    """Return the torch device of that name; ``"auto"`` takes cuda, then mps, then cpu."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise ConfigError(f"device must be 'auto', 'cpu', 'cuda' or 'mps', got {name!r}") from None
    available = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if not available.get(device.type, False):
        raise ConfigError(f"device {name!r} is not available here; use device='auto' or 'cpu'")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(f"device {name!r} does not exist: {torch.cuda.device_count()} found")
    return device
