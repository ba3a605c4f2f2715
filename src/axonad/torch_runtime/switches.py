"""Torch's global settings as training needs them, whatever the caller has set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def learning() -> Iterator[None]:
    """Run the body with gradients enabled and float32 as default dtype, then restore both.

    Callers may call ``fit`` inside ``torch.no_grad`` or with float64 as default dtype.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(before)
