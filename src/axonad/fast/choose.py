"""Training one network the way that suits its device."""

from __future__ import annotations

from torch import Tensor

from axonad.fast.gpu.feed import Member
from axonad.fast.gpu.training import train_fleet
from axonad.model.net import AxonNet
from axonad.progress import Progress
from axonad.torch_runtime.seed import generator
from axonad.train.loop import History, TrainConfig, train


def train_net(
    net: AxonNet,
    series: Tensor,
    validation: Tensor | None,
    config: TrainConfig,
    progress: Progress,
    *,
    seed: int,
) -> History:
    """Train ``net`` in place and return the history; wrap the call in ``seeded``.

    On CUDA it is a stack of one: starting kernels is the cost there, and a stack starts few, which
    are recorded. Stacks are of the standard model alone.
    """
    if series.device.type != "cuda" or not net.config.is_standard:
        return train(net, series, validation, config, progress)
    member = Member(net, series, validation, generator(seed, series.device))
    ((_, history),) = train_fleet([member], config, progress)
    return history
