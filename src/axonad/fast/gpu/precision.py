"""How exact numbers have to be while training on a graphics card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from axonad.fast.gpu.stack import Precision


@contextmanager
def fast_products(device: torch.device) -> Iterator[None]:
    """Let products on CUDA read their factors with 10 bits of mantissa (TF32) in the body.

    Sums stay in float32; convolutions run that way by torch's default anyway. A process that has
    chosen a precision of its own (``torch.set_float32_matmul_precision``) keeps it. Autocast does
    nothing in the body by itself: see ``step_precision``.
    """
    before = torch.get_float32_matmul_precision()
    with torch.autocast(device.type, enabled=False):
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

    Inside ``torch.autocast("cuda", dtype=torch.bfloat16)`` attention and the queries compute in
    that type, with half the memory traffic. What reconstructs does not: on smooth signals its error
    is smaller than the steps between such numbers.
    """
    kind = weights.device.type
    short = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weights.dtype
    return Precision(short, short)
