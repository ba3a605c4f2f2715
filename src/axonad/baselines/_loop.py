"""The training loop the neural baselines share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from axonad.data.windows import count_windows
from axonad.progress import Progress
from axonad.torch_runtime.cuda_graph import Recorded
from axonad.torch_runtime.windows import gather_windows
from axonad.train.checkpoint import BestWeights, Patience
from axonad.train.loop import MARGIN, History

Loss = Callable[[nn.Module, Tensor, int], Tensor]
"""Network, windows (B, T, F) and the epoch, counted from 1 → one number to minimise."""

Stage = Callable[[int], float]
"""Epoch → what the loss makes of it: where that stays, a recorded step stays right."""


@dataclass(frozen=True, kw_only=True)
class LoopConfig:
    """How to train. Defaults live in the detectors' fields, not here."""

    rows: int  # of a window
    epochs: int
    batch_size: int
    epoch_windows: int | None  # visited at most in an epoch
    lr: float
    weight_decay: float
    lr_step: int  # epochs after which the learning rate is multiplied by lr_decay
    lr_decay: float
    clip: float | None  # gradient norm
    patience: int
    restore_best: bool
    recorded: bool = True  # whether a step may be recorded on CUDA: it never makes the host wait


def train_network(
    net: nn.Module,
    loss: Loss,
    *,
    series: Tensor,
    held_out: Tensor | None,
    config: LoopConfig,
    progress: Progress,
    stage: Stage = float,
) -> History:
    """Train ``net`` in place on the windows of ``series`` (n, F) and return the history.

    Training ends when the loss on ``held_out`` stops falling; without one, when the training loss
    does. Reads torch's current random state; wrap the call in ``seeded``.
    """
    optimiser = torch.optim.AdamW(
        net.parameters(),
        lr=_rate(config.lr, series.device),
        weight_decay=config.weight_decay,
        fused=series.device.type in ("cpu", "cuda"),
        capturable=series.device.type == "cuda",
    )
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, config.lr_step, config.lr_decay)
    patience = Patience(limit=config.patience, margin=MARGIN)
    best, history = BestWeights(), History()
    step = _Step(net, loss, optimiser, series, config, stage)
    judge = None if held_out is None else HeldOut(net, loss, held_out, config, stage)
    for epoch in range(1, config.epochs + 1):
        error = _train_epoch(step, epoch, progress)
        schedule.step()
        history.epochs = history.kept_epoch = epoch
        if judge is not None:
            error = judge(epoch)
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


def _rate(lr: float, device: torch.device) -> float | Tensor:
    """Return a learning rate that a recorded step reads anew each time."""
    return torch.tensor(lr, device=device) if device.type == "cuda" else lr


class _Step:
    """One optimiser step from where a batch's windows begin; recorded anew in every stage."""

    def __init__(
        self,
        net: nn.Module,
        loss: Loss,
        optimiser: torch.optim.Optimizer,
        series: Tensor,
        config: LoopConfig,
        stage: Stage,
    ) -> None:
        self._stage = stage
        self.net, self.series, self.config = net, series, config
        self._loss, self._optimiser = loss, optimiser
        self._epoch = 1
        size = max(config.batch_size, 2)
        self.make = Recorded(self._plain, size=size, device=series.device, use=config.recorded)

    def begin(self, epoch: int) -> None:
        """Say which epoch it is; the loss may depend on it."""
        if self._stage(epoch) != self._stage(self._epoch):
            self.make.renew()
        self._epoch = epoch
        self.net.train()

    def _plain(self, starts: Tensor) -> Tensor:
        self._optimiser.zero_grad(set_to_none=True)
        x = gather_windows(self.series, starts, self.config.rows)
        value = self._loss(self.net, x, self._epoch)
        value.backward()  # type: ignore[no-untyped-call]
        if self.config.clip is not None:
            nn.utils.clip_grad_norm_(self.net.parameters(), self.config.clip)
        self._optimiser.step()
        return value.detach()


def _train_epoch(step: _Step, epoch: int, progress: Progress) -> float:
    """Visit windows in random order, each at most once; return the mean loss of the batches."""
    step.begin(epoch)
    device, config = step.series.device, step.config
    order = torch.randperm(count_windows(len(step.series), config.rows), device=device)
    order = order[: config.epoch_windows]
    total, count = torch.zeros((), device=device), 0
    for starts in batches(order, config.batch_size):
        total += step.make(starts)  # on the device: the host waits once an epoch, not once a step
        count += 1
        progress.advance()
    return float(total / count)


class HeldOut:
    """The loss on the windows of a series, in evaluation mode, averaged over batches."""

    def __init__(
        self, net: nn.Module, loss: Loss, series: Tensor, config: LoopConfig, stage: Stage
    ) -> None:
        self._net, self._loss, self._series, self._rows = net, loss, series, config.rows
        self._stage, self._epoch = stage, 1
        windows = count_windows(len(series), config.rows)
        judged = min(config.epoch_windows or windows, windows)
        starts = torch.arange(judged, device=series.device) * windows // judged
        self._parts = torch.split(starts, config.batch_size)
        self._judge = Recorded(
            self._value, size=config.batch_size, device=series.device, warm=1, use=config.recorded
        )

    @torch.no_grad()
    def __call__(self, epoch: int) -> float:
        if self._stage(epoch) != self._stage(self._epoch):
            self._judge.renew()
        self._epoch = epoch
        self._net.eval()
        losses = torch.empty(len(self._parts), device=self._series.device)
        for i, part in enumerate(self._parts):
            losses[i] = self._judge(part)
        return float(losses.mean())

    def _value(self, starts: Tensor) -> Tensor:
        return self._loss(self._net, gather_windows(self._series, starts, self._rows), self._epoch)


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
