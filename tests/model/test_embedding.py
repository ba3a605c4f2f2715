from __future__ import annotations

import numpy as np
import torch

from axonad.model.embedding import split_heads
from tests.model import naive
from tests.model.naive import make_net, window


def test_embedding_norm_and_queries_equal_the_naive_twin():
    net = make_net()
    x = window(net)
    h, H, q = (part.detach() for part in net.online(x))
    for i in range(len(x)):
        found = h[i], H[i], q[i].transpose(0, 1).flatten(1)
        for part, expected in zip(
            found, naive.embed(x[i].double().numpy(), net.online), strict=True
        ):
            np.testing.assert_allclose(part, expected, atol=1e-5)


def test_the_last_steps_alone_keep_their_positions():
    net = make_net()
    x = window(net)
    for part, whole in zip(net.online(x[:, -3:])[:2], net.online(x)[:2], strict=True):
        torch.testing.assert_close(part, whole[:, -3:], rtol=1e-5, atol=1e-6)


def test_each_head_gets_neighbouring_columns():
    heads = split_heads(torch.arange(12.0).view(1, 2, 6), 3)
    assert heads[0].tolist() == [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]
