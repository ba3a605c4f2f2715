"""The training loop the neural baselines share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from axonad.data.windows import count_windows
from axonad.model.windows import gather_windows
from axonad.progress import Progress
from axonad.train.checkpoint import BestWeights, Patience
from axonad.train.loop import MARGIN, History

Loss = Callable[[nn.Module, Tensor, int], Tensor]
"""Network, windows (B, T, F) and the epoch, counted from 1 → one number to minimise."""


@dataclass(frozen=True, kw_only=True)
class LoopConfig:
    """How to train. Defaults live in the detectors' fields, not here."""

    rows: int  # of a window
    epochs: int
    batch_size: int
    lr: float
    weight_decay: float
    lr_step: int  # epochs after which the learning rate is multiplied by lr_decay
    lr_decay: float
    clip: float | None  # gradient norm
    patience: int
    restore_best: bool


def train_network(
    net: nn.Module,
    loss: Loss,
    *,
    series: Tensor,
    held_out: Tensor | None,
    config: LoopConfig,
    progress: Progress,
) -> History:
    """Train ``net`` in place on the windows of ``series`` (n, F) and return the history.

    Training ends when the loss on ``held_out`` stops falling; without one, when the training loss
    does. Reads torch's current random state; wrap the call in ``seeded``.
    """
    optimiser = torch.optim.AdamW(
        net.parameters(),
        lr=config.lr,
        weight_decay=config.weight_decay,
        fused=series.device.type in ("cpu", "cuda"),
    )
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, config.lr_step, config.lr_decay)
    patience = Patience(limit=config.patience, margin=MARGIN)
    best, history = BestWeights(), History()
    for epoch in range(1, config.epochs + 1):
        error = _train_epoch(net, loss, optimiser, series, config, epoch, progress)
        schedule.step()
        history.epochs = history.kept_epoch = epoch
        if held_out is not None:
            error = held_out_loss(net, loss, held_out, config, epoch)
            history.validation.append(error)
        progress.describe(f"epoch {epoch}, loss {error:.4g}")
        if config.restore_best:
            best.offer(net, error, epoch)
        if patience.ends_with(error):
            break
    if config.restore_best and best.epoch > 0:
        best.restore(net)
        history.kept_epoch = best.epoch
    progress.finish()
    return history


def _train_epoch(
    net: nn.Module,
    loss: Loss,
    optimiser: torch.optim.Optimizer,
    series: Tensor,
    config: LoopConfig,
    epoch: int,
    progress: Progress,
) -> float:
    """Visit every window once, in random order; return the mean loss of the batches."""
    net.train()
    order = torch.randperm(count_windows(len(series), config.rows), device=series.device)
    total, count = torch.zeros((), device=series.device), 0
    for starts in batches(order, config.batch_size):
        optimiser.zero_grad(set_to_none=True)
        value = loss(net, gather_windows(series, starts, config.rows), epoch)
        value.backward()  # type: ignore[no-untyped-call]
        if config.clip is not None:
            nn.utils.clip_grad_norm_(net.parameters(), config.clip)
        optimiser.step()
        total += value.detach()  # on the device: the host waits once an epoch, not once a step
        count += 1
        progress.advance()
    return float(total / count)


@torch.no_grad()
def held_out_loss(
    net: nn.Module, loss: Loss, series: Tensor, config: LoopConfig, epoch: int
) -> float:
    """Return the loss on the windows of a series, in evaluation mode, averaged over batches."""
    net.eval()
    starts = torch.arange(count_windows(len(series), config.rows), device=series.device)
    parts = torch.split(starts, config.batch_size)
    losses = torch.empty(len(parts), device=series.device)
    for i, part in enumerate(parts):
        losses[i] = loss(net, gather_windows(series, part, config.rows), epoch)
    return float(losses.mean())


def batches(order: Tensor, size: int) -> Iterator[Tensor]:
    """Yield ``order`` in parts of ``size``; none holds a single window.

    Batch normalisation has no variance of one: a last window left alone joins the part before it,
    and a series of one window shows it twice.

    >>> [part.tolist() for part in batches(torch.arange(5), 2)]
    [[0, 1], [2, 3, 4]]
    """
    if len(order) == 1:
        order = order.repeat(2)
    size = max(size, 2)
    cut = len(order) - size - 1 if len(order) % size == 1 else len(order)
    yield from torch.split(order[:cut], size) if cut else ()
    if cut < len(order):
        yield order[cut:]
