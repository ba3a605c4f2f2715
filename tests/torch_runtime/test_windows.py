from __future__ import annotations

import torch

from axonad.torch_runtime.windows import gather_windows


def test_windows_are_gathered_in_order():
    series = torch.arange(12.0).reshape(6, 2)
    got = gather_windows(series, torch.tensor([3, 0]), 3)
    assert got[0].tolist() == series[3:6].tolist()
    assert got[1].tolist() == series[0:3].tolist()
