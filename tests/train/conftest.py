from __future__ import annotations

import pytest
import torch


@pytest.fixture
def double():
    """Double precision: rounding cannot hide a difference, nor a ReLU at its knee make one."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
