from __future__ import annotations

import pytest
import torch

from axonad.fast.gpu.precision import allow_tf32, step_precision

CUDA = torch.device("cuda")  # products are not made: no GPU is needed


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_dtype_is_that_of_the_weights_or_of_autocast(dtype):
    weights = torch.zeros(2, dtype=dtype)
    assert set(step_precision(weights)) == {dtype}
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert set(step_precision(weights)) == {torch.bfloat16}


@pytest.fixture
def precision():
    before = torch.get_float32_matmul_precision()
    yield torch.set_float32_matmul_precision
    torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize(("given", "inside"), [("highest", "high"), ("medium", "medium")])
def test_tf32_is_allowed_within_and_what_the_caller_set_is_kept(precision, given, inside):
    precision(given)
    with pytest.raises(KeyError), allow_tf32(CUDA):
        assert torch.get_float32_matmul_precision() == inside
        raise KeyError
    assert torch.get_float32_matmul_precision() == given
    with allow_tf32(torch.device("cpu")):
        assert torch.get_float32_matmul_precision() == given


def test_autocast_is_disabled_within():
    with torch.autocast("cpu", dtype=torch.bfloat16), allow_tf32(torch.device("cpu")):
        assert not torch.is_autocast_enabled("cpu")
