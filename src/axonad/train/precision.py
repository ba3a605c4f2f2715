"""How exact matrix products have to be while training on a graphics card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def fast_products(device: torch.device) -> Iterator[None]:
    """Let products on CUDA read their factors with 10 bits of mantissa (TF32) in the body.

    Sums stay in float32; convolutions run that way by torch's default anyway. A process that has
    chosen a precision of its own (``torch.set_float32_matmul_precision``) keeps it.
    """
    before = torch.get_float32_matmul_precision()
    if device.type != "cuda" or before != "highest":
        yield
        return
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
