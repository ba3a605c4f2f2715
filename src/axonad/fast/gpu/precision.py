"""Reduced precision (TF32, autocast) in training on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from axonad.fast.gpu.stack import Precision


@contextmanager
def allow_tf32(device: torch.device) -> Iterator[None]:
    """Allow TF32 matrix products on CUDA within the context; sums stay in float32.

    torch's convolutions use TF32 by default anyway. A precision that the caller has set with
    ``torch.set_float32_matmul_precision`` is kept. Autocast is disabled within the context: see
    :func:`step_precision`.
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
    """Return the dtypes of the parts of a training step.

    Inside ``torch.autocast("cuda", dtype=torch.bfloat16)``, attention and queries are computed in
    bfloat16, with half the memory traffic. The rest of the reconstruction is not: on smooth signals
    its error is below the resolution of bfloat16.
    """
    device = weights.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weights.dtype
    return Precision(dtype, dtype)
