"""Torch's switches as learning needs them, whatever the caller has set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def learning() -> Iterator[None]:
    """Run the body with gradients on and new tensors in float32, then put both back.

    A caller may fit inside ``torch.no_grad``, or compute in float64 by default.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(before)
