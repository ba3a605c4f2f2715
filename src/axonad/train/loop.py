"""The training loop, written out.

``train`` computes everything with the plain network. ``fast/choose.py`` passes it a faster training
step and a faster pass over the validation windows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from axonad.model.loss import WeightedLoss
from axonad.model.net import AxonNet, Consume, Output, run_windows
from axonad.progress import Progress
from axonad.torch_runtime.cuda_graph import Recorded
from axonad.torch_runtime.threads import one_thread
from axonad.torch_runtime.windows import Windows, as_windows, gather_windows
from axonad.train.checkpoint import History, run_epochs
from axonad.train.mask import MaskPlan, draw_blocks, mask_blocks, mask_plan

CLIP = 1.0  # gradient norm
GPU_BATCH = 4096  # windows validated at a time on a GPU, where kernel launches dominate

Step = Callable[[Tensor], None]
"""One optimiser step on the windows that begin at the given rows (B,)."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Training settings; their defaults are the fields of the detector."""

    epochs: int
    batch_size: int
    epoch_windows: int | None  # maximum number of windows per epoch; None: all
    lr: float
    weight_decay: float
    patience: int
    mask_ratio: float
    block_fraction: float
    restore_best: bool

    def mask_plan(self, *, window: int, horizon: int) -> MaskPlan:
        """Return the masks for windows of this length."""
        return mask_plan(
            window=window,
            horizon=horizon,
            mask_ratio=self.mask_ratio,
            block_fraction=self.block_fraction,
        )

    def visited(self, windows: int) -> int:
        """Return how many of a series' training windows an epoch visits."""
        return min(self.epoch_windows or windows, windows)

    def judged(self, windows: int, *, training: int) -> int:
        """Return how many validation windows are judged: the share of training windows visited."""
        return max(1, windows * self.visited(training) // training)

    def steps(self, windows: int) -> int:
        """Return the number of steps in an epoch over a series with this many windows."""
        return -(-self.visited(windows) // self.batch_size)


class MakeStep(Protocol):
    """Builds the training step of a network."""

    def __call__(
        self,
        net: AxonNet,
        loss: WeightedLoss,
        optimiser: torch.optim.Optimizer,
        series: Tensor,
        config: TrainConfig,
    ) -> Step:
        """Return a function that makes one optimiser step."""


class RunWindows(Protocol):
    """Runs the network over all windows of a series, as ``model.net.run_windows`` does."""

    def __call__(self, net: AxonNet, series: Tensor, *, batch_size: int, consume: Consume) -> None:
        """Call ``consume`` for every batch."""


def plain_step(
    net: AxonNet,
    loss: WeightedLoss,
    optimiser: torch.optim.Optimizer,
    series: Tensor,
    config: TrainConfig,
) -> Step:
    """Return the step that computes loss and gradient on the whole tail of every window."""
    window = net.config.window
    plan = config.mask_plan(window=window, horizon=net.config.horizon)

    def step(starts: Tensor) -> None:
        begins = draw_blocks(len(starts), window=window, plan=plan, device=series.device)
        optimiser.zero_grad(set_to_none=True)
        x = gather_windows(series, starts, window)
        mask = mask_blocks(begins, window, plan.span)[:, -plan.tail :]
        loss(net(x, last=plan.tail), x, mask).backward()
        update(net, optimiser)

    return step


def update(net: AxonNet, optimiser: torch.optim.Optimizer) -> None:
    """Clip the gradient, make the optimiser's step and move the target encoder."""
    weights = [p for group in optimiser.param_groups for p in group["params"]]
    with one_thread():
        torch.nn.utils.clip_grad_norm_(weights, CLIP)
        optimiser.step()
        net.follow()


def train(
    net: AxonNet,
    series: Tensor | Windows,
    validation: Tensor | Windows | None,
    config: TrainConfig,
    progress: Progress,
    *,
    make_step: MakeStep = plain_step,
    run: RunWindows = run_windows,
) -> History:
    """Train ``net`` in place on the windows of ``series`` (n, F) and return the history.

    A tensor stands for all its windows. With a validation series, training ends when its
    reconstruction error stops falling; without one, all epochs run. Random numbers come from
    torch's global RNG: wrap the call in ``seeded``.
    """
    series = as_windows(series, net.config.window)
    loss = net.make_loss().to(series.device)
    weights: list[Tensor] = [*(p for p in net.parameters() if p.requires_grad), *loss.parameters()]
    step = make_step(net, loss, adamw(weights, config), series.rows, config)
    step = Recorded(step, size=config.batch_size, device=series.device)
    validate = None
    if validation is not None:
        validation = as_windows(validation, net.config.window)
        judged = config.judged(len(validation), training=len(series))
        validate = partial(validation_error, net, validation, config.batch_size, run, judged=judged)
    return run_epochs(
        net,
        lambda _: train_epoch(net, step, series, config, progress),
        None if validate is None else lambda _: validate(),
        epochs=config.epochs,
        patience=config.patience,
        restore_best=config.restore_best,
        progress=progress,
    )


def adamw(weights: list[Tensor], config: TrainConfig) -> torch.optim.Optimizer:
    """Return AdamW for these weights, with weight decay on all of them."""
    return torch.optim.AdamW(
        weights,
        lr=config.lr,
        weight_decay=config.weight_decay,
        fused=weights[0].device.type in ("cpu", "cuda"),
        capturable=weights[0].device.type == "cuda",
    )


def train_epoch(
    net: AxonNet, step: Step, series: Tensor | Windows, config: TrainConfig, progress: Progress
) -> None:
    """Visit every window once, or a random part of them (``epoch_windows``), in random order."""
    net.train()
    series = as_windows(series, net.config.window)
    order = series.starts[torch.randperm(len(series), device=series.device)]
    for starts in torch.split(order[: config.epoch_windows], config.batch_size):
        step(starts)
        progress.advance()


@torch.no_grad()
def validation_error(
    net: AxonNet,
    series: Tensor | Windows,
    batch_size: int,
    run: RunWindows = run_windows,
    *,
    judged: int | None = None,
) -> float:
    """Return the reconstruction error: the mean over batches of their mean squared error.

    ``judged`` is the number of windows to use, evenly spaced; by default all.
    """
    net.eval()
    window = net.config.window
    series = as_windows(series, window)
    windows = len(series)
    judged = windows if judged is None else judged
    errors = series.rows.new_empty(judged)

    def consume(first: int, output: Output, x: Tensor) -> None:
        errors[first : first + len(x)] = (output.reconstruction - x).square().mean((1, 2))

    at_once = batch_size if series.device.type == "cpu" else max(batch_size, GPU_BATCH)
    if judged == windows:
        done = 0
        for part in series.recordings.parts_with(window):
            place = partial(_consume_from, done, consume)
            run(net, series.rows[part], batch_size=at_once, consume=place)
            done += part.stop - part.start - window + 1
    else:
        starts = series.starts[spaced(judged, windows, series.device)]
        for first in range(0, judged, at_once):
            x = gather_windows(series.rows, starts[first : first + at_once], window)
            reconstruction = net.decode(*net.online(x))
            errors[first : first + len(x)] = (reconstruction - x).square().mean((1, 2))
    return float(torch.stack([part.mean() for part in torch.split(errors, batch_size)]).mean())


def _consume_from(done: int, consume: Consume, first: int, output: Output, x: Tensor) -> None:
    consume(done + first, output, x)


def spaced(count: int, windows: int, device: torch.device) -> Tensor:
    """Return the numbers of ``count`` of ``windows`` windows, evenly spaced.

    >>> spaced(3, 10, torch.device("cpu")).tolist()
    [0, 3, 6]
    """
    return torch.arange(count, device=device) * windows // count
