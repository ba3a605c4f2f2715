"""How exact numbers have to be while training on a graphics card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from axonad.model.stacked import Precision


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


def step_precision(weights: Tensor) -> Precision:
    """Return what the parts of a training step compute with, for weights like these.

    On cards that have it, attention and the queries compute in bfloat16, with half the memory
    traffic. What reconstructs does not: on smooth signals its error is smaller than such numbers'
    steps. A process that has chosen a precision of its own gets that alone.
    """
    exact = weights.dtype
    chosen = torch.get_float32_matmul_precision() != "highest"
    if weights.device.type != "cuda" or chosen or not torch.cuda.is_bf16_supported():
        return Precision(exact, exact)
    return Precision(torch.bfloat16, torch.bfloat16)
