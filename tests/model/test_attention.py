from __future__ import annotations

import numpy as np
import pytest
import torch

from axonad.model.embedding import split_heads
from tests.model import naive
from tests.model.naive import make_net


@pytest.mark.parametrize("heads", [1, 4])
def test_context_equals_naive_twin(heads):
    attention = make_net(heads=heads).attention
    torch.manual_seed(1)
    q, H = torch.randn(2, 2, 7, 8).unbind()
    found = attention(split_heads(q, heads), H).detach()
    for i in range(len(H)):
        expected = naive.attention(q[i].double().numpy(), H[i].double().numpy(), attention)
        np.testing.assert_allclose(found[i], expected, atol=1e-5)


def test_every_step_sees_every_other():
    attention = make_net().attention
    torch.manual_seed(1)
    q, H = split_heads(torch.randn(1, 7, 8), 2), torch.randn(1, 7, 8)
    for changed in (0, 6):
        other = H.clone()
        other[0, changed] += 1.0
        moved = (attention(q, other) - attention(q, H))[0].abs().amax(1) > 0
        assert moved.all()
