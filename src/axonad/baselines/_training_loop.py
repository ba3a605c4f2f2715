"""The training loop the neural baselines share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from axonad.progress import Progress
from axonad.torch_runtime.cuda_graph import WARM, Recorded
from axonad.torch_runtime.windows import Windows, gather_windows
from axonad.train.checkpoint import History, run_epochs

Loss = Callable[[nn.Module, Tensor, int], Tensor]
"""Network, windows (B, T, F) and epoch (1, 2, ...) → the scalar to minimise."""

EpochFactor = Callable[[int], float]
"""Epoch → the epoch-dependent factor of the loss; a CUDA graph is valid while it is constant."""


@dataclass(frozen=True, kw_only=True)
class LoopConfig:
    """Training settings; their defaults are the fields of the detectors."""

    window_rows: int  # rows per window: the history of the detector
    epochs: int
    batch_size: int
    epoch_windows: int | None  # maximum number of windows per epoch; None: all
    lr: float
    weight_decay: float
    lr_schedule: tuple[int, float]  # (epochs, factor): multiply lr every ``epochs`` epochs
    clip: float | None  # maximum gradient norm
    patience: int
    restore_best: bool


def train_network(
    net: nn.Module,
    loss: Loss,
    *,
    series: Windows,
    held_out: Windows | None,
    config: LoopConfig,
    progress: Progress,
    epoch_factor: EpochFactor = float,
) -> History:
    """Train ``net`` in place on the windows of ``series`` and return the history.

    Training stops early when the loss on ``held_out`` stops falling, or the training loss where
    ``held_out`` is None. Random numbers come from torch's global generators; call it inside
    ``seeded``.
    """
    optimiser = _make_optimiser(net, series.device, config)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, *config.lr_schedule)

    def batch_loss(rows: Tensor, starts: Tensor, epoch: int) -> Tensor:
        return loss(net, gather_windows(rows, starts, config.window_rows), epoch)

    def update(starts: Tensor, epoch: int) -> Tensor:
        optimiser.zero_grad(set_to_none=True)
        value = batch_loss(series.rows, starts, epoch)
        value.backward()  # type: ignore[no-untyped-call]
        if config.clip is not None:
            nn.utils.clip_grad_norm_(net.parameters(), config.clip)
        optimiser.step()
        return value.detach()

    step = _EpochStep(update, epoch_factor, series.device, size=max(config.batch_size, 2))

    def train_epoch(epoch: int) -> float:
        net.train()
        loss = _train_epoch(partial(step, epoch=epoch), series, config, progress)
        schedule.step()
        return loss

    def make_validation(windows: Windows) -> Callable[[int], float]:
        evaluate = partial(batch_loss, windows.rows)
        judge = _EpochStep(evaluate, epoch_factor, windows.device, size=config.batch_size, warm=1)

        def validate(epoch: int) -> float:
            net.eval()
            return _validate(partial(judge, epoch=epoch), windows, config)

        return validate

    return run_epochs(
        net,
        train_epoch,
        None if held_out is None else make_validation(held_out),
        epochs=config.epochs,
        patience=config.patience,
        restore_best=config.restore_best,
        progress=progress,
    )


def _make_optimiser(
    net: nn.Module, device: torch.device, config: LoopConfig
) -> torch.optim.Optimizer:
    on_cuda = device.type == "cuda"
    return torch.optim.AdamW(
        net.parameters(),
        # A CUDA graph reads a tensor at each replay; a float would be recorded as a constant.
        lr=torch.tensor(config.lr, device=device) if on_cuda else config.lr,
        weight_decay=config.weight_decay,
        fused=device.type in ("cpu", "cuda"),
        capturable=on_cuda,
    )


class _EpochStep:
    """``step(starts, epoch)``; on CUDA, a graph captured again when the epoch factor changes."""

    def __init__(
        self,
        step: Callable[[Tensor, int], Tensor],
        epoch_factor: EpochFactor,
        device: torch.device,
        *,
        size: int,
        warm: int = WARM,
    ) -> None:
        self._epoch_factor, self._epoch = epoch_factor, 1
        self._graph = Recorded(
            lambda starts: step(starts, self._epoch),
            size=size,
            device=device,
            warm=warm,
        )

    def __call__(self, starts: Tensor, epoch: int) -> Tensor:
        if self._epoch_factor(epoch) != self._epoch_factor(self._epoch):
            self._graph.renew()
        self._epoch = epoch
        return self._graph(starts)


def _train_epoch(
    step: Callable[[Tensor], Tensor], series: Windows, config: LoopConfig, progress: Progress
) -> float:
    """Visit windows in random order, each at most once; return the mean loss over batches."""
    order = series.starts[torch.randperm(len(series), device=series.device)]
    total, count = torch.zeros((), device=series.device), 0
    for starts in batches(order[: config.epoch_windows], config.batch_size):
        total += step(starts)  # stays on the device: one device-to-host copy per epoch
        count += 1
        progress.advance()
    return float(total / count)


@torch.no_grad()
def _validate(batch_loss: Callable[[Tensor], Tensor], series: Windows, config: LoopConfig) -> float:
    """Return the mean loss over batches of evenly spaced windows, all of them by default."""
    windows = len(series)
    judged = min(config.epoch_windows or windows, windows)
    starts = series.starts[torch.arange(judged, device=series.device) * windows // judged]
    parts = torch.split(starts, config.batch_size)
    losses = torch.empty(len(parts), device=series.device)
    for i, part in enumerate(parts):
        losses[i] = batch_loss(part)
    return float(losses.mean())


def batches(order: Tensor, size: int) -> Iterator[Tensor]:
    """Yield ``order`` in batches of ``size``, none of them a single window.

    Batch normalisation needs a variance: a single last window joins the batch before it, and a
    series of one window yields that window twice.

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
