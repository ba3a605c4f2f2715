"""Linear maps of LN1's output, folded into parts of rows and of steps."""

from __future__ import annotations

import pytest
import torch

from axonad.fast.cpu.folding import fold, fold_spread
from tests.model.naive import make_net


@pytest.fixture
def encoder():
    return make_net(channels=5).double().target.encoder  # its norm has gain and bias


def test_a_folded_map_equals_the_map_of_the_norm(encoder):
    torch.manual_seed(0)
    x, matrix = torch.randn(2, 20, 5).double(), torch.randn(7, 8).double()
    h, H, _ = encoder(x)
    sigma = (h.var(-1, correction=0, keepdim=True) + encoder.norm.eps).sqrt()
    folded = fold(encoder, matrix)
    found = (x @ folded.rows + folded.steps) / sigma + folded.constant
    torch.testing.assert_close(found, H @ matrix.T, rtol=1e-10, atol=1e-12)


def test_the_spread_is_that_of_a_row_at_every_step(encoder):
    torch.manual_seed(0)
    x = torch.randn(4, 5).double()
    found = fold_spread(encoder, torch.device("cpu")).inverse(x)
    assert found.shape == (4, 20)
    for row in range(4):
        h = encoder.embed(x[row]) + encoder.position
        expected = (h.var(-1, correction=0) + encoder.norm.eps).rsqrt()
        torch.testing.assert_close(found[row], expected, rtol=1e-10, atol=0)
