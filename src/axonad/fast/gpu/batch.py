"""The forward pass over all windows of one series on a GPU: large batches in a CUDA graph.

Reference: ``run_windows`` in ``model/net.py``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from axonad.data.windows import count_windows
from axonad.fast.gpu.fused import can_fuse
from axonad.fast.gpu.scoring import GpuNet
from axonad.model.net import AxonNet, Consume, Output
from axonad.torch_runtime.cuda_graph import WARM, Recorded
from axonad.torch_runtime.windows import gather_windows

PASS = 2048  # windows per batch: larger ones only use more memory


def run_on_gpu(
    net: AxonNet, series: Tensor, *, consume: Consume, decoded: int | None = None
) -> None:
    """Call ``consume(first, output, x)`` for all windows of a series (n, F)."""
    window = net.config.window
    starts = torch.arange(count_windows(len(series), window), device=series.device)
    scoring = GpuNet(net, fused=can_fuse(net.config, series.device, windows=len(starts)))

    def forward(begins: Tensor) -> tuple[Output, Tensor]:
        x = gather_windows(series, begins, window)
        output = scoring(x)
        if decoded is not None:  # cut, not saved: on a GPU the other steps cost little
            output = output._replace(reconstruction=output.reconstruction[:, -decoded:])
        return output, x

    batches = torch.split(starts, PASS)
    recorded = Recorded(forward, size=PASS, device=series.device, warm=1, use=len(batches) > WARM)
    for i, begins in enumerate(batches):
        consume(i * PASS, *recorded(begins))
