"""The pass over all windows of a series; on a CPU nothing is recorded or fused."""

from __future__ import annotations

import torch

from axonad.fast.gpu import batch
from tests.model.naive import make_net


def test_every_window_comes_once_and_right(monkeypatch):
    monkeypatch.setattr(batch, "PASS", 4)
    net = make_net().requires_grad_(False)
    series = torch.randn(20 + 9, 3)  # ten windows: 4, 4, 2
    whole, seen = series.unfold(0, 20, 1).mT, []

    def consume(first, output, x):
        part = slice(first, first + len(x))
        seen.extend(range(first, first + len(x)))
        torch.testing.assert_close(x, whole[part])
        for found, expected in zip(output, net(whole[part], last=5), strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)

    batch.run_on_gpu(net, series, consume=consume)
    assert seen == list(range(10))
