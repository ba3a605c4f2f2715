"""Scratch memory that one thread's forward passes reuse."""

from __future__ import annotations

import math

import torch
from torch import Tensor


class Buffers:
    """Named scratch tensors of one thread, allocated once and reused by every pass."""

    def __init__(self, like: Tensor) -> None:
        self._like = like
        self._flat: dict[str, Tensor] = {}
        self._views: dict[tuple[str, tuple[int, ...]], Tensor] = {}

    def __call__(self, name: str, *shape: int) -> Tensor:
        """Return a tensor of this shape with undefined content.

        All tensors of one name share the same memory, whatever their shapes.
        """
        view = self._views.get((name, shape))
        if view is None:
            view = self._views[name, shape] = self._allocate(name, shape)
        return view

    def _allocate(self, name: str, shape: tuple[int, ...]) -> Tensor:
        size = math.prod(shape)
        if name not in self._flat or len(self._flat[name]) < size:
            self._views = {key: view for key, view in self._views.items() if key[0] != name}
            self._flat[name] = torch.empty(size, dtype=self._like.dtype, device=self._like.device)
        return self._flat[name][:size].view(shape)
