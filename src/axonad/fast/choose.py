"""Choose the fastest implementation that can train or score a network on a device.

Each equals the plain functions ``train`` and ``run_windows`` within the tolerance stated in
``docs/exactness.md``.
"""

from __future__ import annotations

from torch import Tensor

from axonad.data.windows import count_windows
from axonad.fast.cpu.batch import run_on_cores
from axonad.fast.cpu.training import block_step
from axonad.fast.gpu.batch import run_on_gpu
from axonad.fast.gpu.feed import Member
from axonad.fast.gpu.training import train_stack
from axonad.model import net as plain
from axonad.model.net import AxonNet, Consume
from axonad.progress import Progress
from axonad.torch_runtime.seed import generator
from axonad.torch_runtime.threads import one_thread
from axonad.torch_runtime.windows import Windows
from axonad.train.checkpoint import History
from axonad.train.loop import TrainConfig, plain_step, train

FEW = 8  # up to this many windows, preparing a faster network costs more than it saves


def run_windows(
    net: AxonNet, series: Tensor, *, batch_size: int, consume: Consume, decoded: int | None = None
) -> None:
    """Call ``consume(first, output, x)`` for all windows of a series (n, F), a batch at a time.

    With ``decoded``, only that many last steps of each window are reconstructed. On a CPU several
    threads call ``consume``; its arguments are valid until it returns.
    """
    device = series.device.type
    if net.config.is_standard and device == "cuda":
        run_on_gpu(net, series, consume=consume, decoded=decoded)
    elif net.config.is_standard and device == "cpu":
        if count_windows(len(series), net.config.window) > FEW:
            run_on_cores(net, series, batch_size=batch_size, consume=consume, decoded=decoded)
        else:
            with one_thread():
                plain.run_windows(net, series, batch_size=FEW, consume=consume, decoded=decoded)
    else:
        plain.run_windows(net, series, batch_size=batch_size, consume=consume, decoded=decoded)


def train_net(
    net: AxonNet,
    series: Windows,
    validation: Windows | None,
    config: TrainConfig,
    progress: Progress,
    *,
    seed: int,
) -> History:
    """Train ``net`` in place and return the history; wrap the call in ``seeded``.

    On CUDA it is trained as a stack of one model, recorded as a CUDA graph.
    """
    device, is_standard = series.device, net.config.is_standard
    if is_standard and device.type == "cuda":
        member = Member(net, series, validation, generator(seed, device))
        ((_, history),) = train_stack([member], config, progress)
        return history
    make_step = block_step if is_standard and device.type == "cpu" else plain_step
    return train(net, series, validation, config, progress, make_step=make_step, run=run_windows)
