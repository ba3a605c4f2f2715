"""How exact numbers have to be while training on a graphics card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


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


def step_dtype(weights: Tensor) -> torch.dtype:
    """Return the type of numbers a training step computes with, for weights like these.

    On cards that have it, bfloat16: half the memory traffic, which is what a step waits for. The
    weights themselves, their gradients' sums, the loss and the validation stay in float32. A
    process that sets a precision of its own (``torch.set_float32_matmul_precision("high")``) gets
    float32 with that.
    """
    chosen = torch.get_float32_matmul_precision() != "highest"
    if weights.device.type != "cuda" or chosen or not torch.cuda.is_bf16_supported():
        return weights.dtype
    return torch.bfloat16
