"""MAVAE's attention."""

from __future__ import annotations

import torch

from axonad.baselines import mavae


def test_mavae_mixes_values_by_the_rows_alone():
    layer = mavae.Attention(3, 4, heads=2, size=6)
    x, z = torch.randn(2, 5, 3), torch.randn(2, 5, 4)
    naive = torch.empty(2, 5, 6)
    q, k, v = layer.query(x), layer.key(x), layer.value(z)
    for head in (slice(0, 3), slice(3, 6)):
        share = torch.softmax(q[..., head] @ k[..., head].mT / 3**0.5, dim=-1)
        naive[..., head] = share @ v[..., head]
    torch.testing.assert_close(layer(x, z), layer.out(naive))
    same = z[:, :1].expand_as(z)
    mixed = layer(x, same)
    torch.testing.assert_close(mixed, mixed[:, :1].expand_as(mixed), rtol=1e-4, atol=1e-5)
