"""The training loop, written out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from axonad.data.windows import count_windows
from axonad.fast.cpu.gradient import block_gradients
from axonad.fast.passes import run_passes
from axonad.model.loss import WeightedLoss
from axonad.model.net import AxonNet, Output
from axonad.paper.variant_net import make_loss
from axonad.progress import Progress
from axonad.torch_runtime.cuda_graph import Recorded
from axonad.torch_runtime.threads import one_thread
from axonad.torch_runtime.windows import gather_windows
from axonad.train.checkpoint import BestWeights, Patience
from axonad.train.mask import draw_blocks, mask_blocks, mask_plan

CLIP = 1.0  # gradient norm
MARGIN = 1e-4  # an improvement of the validation error must exceed this
GPU_BATCH = 4096  # windows validated at a time, where launches cost more than memory


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How to train. Defaults live in the detector's fields, not here."""

    epochs: int
    batch_size: int
    lr: float
    weight_decay: float
    patience: int
    mask_ratio: float
    block_fraction: float
    restore_best: bool


@dataclass(kw_only=True)
class History:
    """What happened: validation error per epoch (empty without validation), weights kept."""

    validation: list[float] = field(default_factory=list)
    epochs: int = 0
    kept_epoch: int = 0


def train(
    net: AxonNet,
    series: Tensor,
    validation: Tensor | None,
    config: TrainConfig,
    progress: Progress,
) -> History:
    """Train ``net`` in place on the windows of ``series`` (n, F) and return the history.

    With a validation series, training ends when its reconstruction error stops falling; without
    one, all epochs run. Reads torch's current random state; wrap the call in ``seeded``.
    """
    loss = make_loss(net.config).to(series.device)
    optimiser = make_optimiser(net, loss, config)
    plain = plain_step(net, loss, optimiser, series, config)
    step = Recorded(plain, size=config.batch_size, device=series.device)
    patience = Patience(limit=config.patience, margin=MARGIN)
    best, history = BestWeights(), History()
    for epoch in range(config.epochs):
        train_epoch(net, step, series, config.batch_size, progress)
        history.epochs = history.kept_epoch = epoch + 1
        if validation is None:
            continue
        error = validation_error(net, validation, config.batch_size)
        history.validation.append(error)
        progress.describe(f"epoch {epoch + 1}, validation {error:.4g}")
        if config.restore_best:
            best.offer(net, error, epoch + 1)
        if patience.ends_with(error):
            break
    if config.restore_best and best.epoch > 0:
        best.restore(net)
        history.kept_epoch = best.epoch
    progress.finish()
    return history


def make_optimiser(net: AxonNet, loss: WeightedLoss, config: TrainConfig) -> torch.optim.Optimizer:
    """Return AdamW over all trained weights, the loss's own two included, decay on all of them."""
    return adamw([*(p for p in net.parameters() if p.requires_grad), *loss.parameters()], config)


def adamw(weights: list[Tensor], config: TrainConfig) -> torch.optim.Optimizer:
    """Return the optimiser of these weights, decay on all of them."""
    return torch.optim.AdamW(
        weights,
        lr=config.lr,
        weight_decay=config.weight_decay,
        fused=weights[0].device.type in ("cpu", "cuda"),
        capturable=weights[0].device.type == "cuda",
    )


def plain_step(
    net: AxonNet,
    loss: WeightedLoss,
    optimiser: torch.optim.Optimizer,
    series: Tensor,
    config: TrainConfig,
) -> Callable[[Tensor], None]:
    """Return the step from where a batch's windows begin to the updated weights and target."""
    window = net.config.window
    plan = mask_plan(
        window=window,
        horizon=net.config.horizon,
        mask_ratio=config.mask_ratio,
        block_fraction=config.block_fraction,
    )
    tail, span, blocks = plan  # no mask lies before the tail: earlier queries would count nothing
    alone = series.device.type == "cpu" and blocks == 1 and net.predictor.room <= window - tail
    alone = alone and net.config.is_standard
    weights = [p for group in optimiser.param_groups for p in group["params"]]

    def step(starts: Tensor) -> None:
        begins = draw_blocks(len(starts), window=window, plan=plan, device=series.device)
        if alone:  # one block, all of it masked: nothing else is computed
            begins = begins.view(-1)
            found = block_gradients(net, loss, weights, series, starts, begins, span)
            for weight, gradient in zip(weights, found, strict=True):
                weight.grad = gradient
        else:
            optimiser.zero_grad(set_to_none=True)
            x = gather_windows(series, starts, window)
            mask = mask_blocks(begins, window, span)[:, -tail:]
            loss(net(x, last=tail), x, mask).backward()
        with one_thread():
            torch.nn.utils.clip_grad_norm_(weights, CLIP)
            optimiser.step()
            net.follow()

    return step


def train_epoch(
    net: AxonNet,
    step: Callable[[Tensor], None],
    series: Tensor,
    batch_size: int,
    progress: Progress,
) -> None:
    """Visit every window once, in random order."""
    net.train()
    order = torch.randperm(count_windows(len(series), net.config.window), device=series.device)
    for starts in torch.split(order, batch_size):
        step(starts)
        progress.advance()


@torch.no_grad()
def validation_error(net: AxonNet, series: Tensor, batch_size: int) -> float:
    """Return the reconstruction error (mean over batches of their mean squared error)."""
    net.eval()
    errors = series.new_empty(count_windows(len(series), net.config.window))

    def take(first: int, output: Output, x: Tensor) -> None:
        errors[first : first + len(x)] = (output.reconstruction - x).square().mean((1, 2))

    at_once = batch_size if series.device.type == "cpu" else max(batch_size, GPU_BATCH)
    run_passes(net, series, batch_size=at_once, take=take)
    return float(torch.stack([part.mean() for part in torch.split(errors, batch_size)]).mean())
