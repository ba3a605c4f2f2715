from __future__ import annotations

import torch

from axonad.fast.gpu.layout import Layout
from axonad.model.net import AxonNet
from tests.fast.gpu.conftest import weights
from tests.train.test_loop import NET


def test_pack_and_unpack_are_inverse():
    nets = [AxonNet(NET) for _ in range(2)]
    copies = [AxonNet(NET) for _ in range(2)]
    layout = Layout(nets[0])
    rows, target = layout.pack(nets)
    for i, copy in enumerate(copies):
        layout.unpack(rows[i], target[i], copy)
        assert torch.equal(weights(copy), weights(nets[i]))
