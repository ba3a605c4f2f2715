"""Memory that one thread's passes use again and again."""

from __future__ import annotations

import math

import torch
from torch import Tensor


class Buffers:
    """Named scratch tensors; a name's memory is fetched from the system once, not every pass."""

    def __init__(self, like: Tensor) -> None:
        self._like = like
        self._flat: dict[str, Tensor] = {}

    def __call__(self, name: str, *shape: int) -> Tensor:
        """Return a tensor of this shape; what it holds is whatever was left there."""
        size = math.prod(shape)
        if name not in self._flat or len(self._flat[name]) < size:
            self._flat[name] = torch.empty(size, dtype=self._like.dtype, device=self._like.device)
        return self._flat[name][:size].view(shape)
