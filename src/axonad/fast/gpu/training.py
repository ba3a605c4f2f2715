"""Joint training of many networks of one shape, each as if it were trained separately.

Reference: ``train`` in ``train/loop.py``. Weights, moments and target encoders of all models are
rows of shared matrices, so one step of all models is one forward and one backward pass. Every model
has its own epochs and its own early stopping, and leaves the stack when it stops. The host
synchronises with the device only when an epoch of some model ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from axonad.fast.gpu.feed import Dropout, Member, TrainingWindows, ValidationWindows
from axonad.fast.gpu.fused import can_fuse
from axonad.fast.gpu.layout import Layout
from axonad.fast.gpu.optimiser import FusedUpdate, PlainUpdate
from axonad.fast.gpu.precision import allow_tf32, step_precision
from axonad.fast.gpu.stack import Batch, LayerMasks, losses, window_errors
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet
from axonad.progress import Progress
from axonad.torch_runtime.cuda_graph import Replay
from axonad.train.checkpoint import MARGIN, History, Patience
from axonad.train.loop import GPU_BATCH, TrainConfig

Row = tuple[Tensor, Tensor]  # one model's weights (P,) and target encoder (Q,)

# Memory of one model, rounded up:
ACTIVATION_FLOATS = 32  # per window, step and column: activations saved for the backward pass
WEIGHT_FLOATS = 200  # times d_model²: weights, gradients, moments, target encoder, best copy
MEMORY_SHARE = 0.5  # share of a GPU's free memory that a stack may use
CPU_FLOATS = 2**20  # of one activation on a CPU; larger stacks are slower than separate fits
MAX_WINDOWS = 65_535  # in one launch of CUDA's attention kernel


def models_at_once(config: NetConfig, batch_size: int, device: torch.device) -> int:
    """Return how many models of this shape a stack on this device should have, at least 1."""
    size = batch_size * config.window * max(config.d_model, config.channels)
    if device.type != "cuda":
        return max(1, CPU_FLOATS // size)
    needed = 4 * (ACTIVATION_FLOATS * size + WEIGHT_FLOATS * config.d_model**2)
    free = torch.cuda.mem_get_info(device)[0] * MEMORY_SHARE
    return max(1, min(int(free / needed), MAX_WINDOWS // batch_size))


def train_stack(
    members: Sequence[Member], config: TrainConfig, progress: Progress
) -> Iterator[tuple[int, History]]:
    """Train all members' networks in place; yield the index and history of each one when it stops.

    Apart from its random numbers, each result is that of ``train``. The members must have the
    same configuration and device; their series may differ in length.
    """
    models = [ModelProgress(index, member, config) for index, member in enumerate(members)]
    total = sum(config.visited(member.windows) for member in members) * config.epochs
    stack = Stack([member.net for member in members], config, windows=total)
    net = members[0].net.config
    plan = config.mask_plan(window=net.window, horizon=net.horizon)
    windows = TrainingWindows(members, plan=plan, config=config)
    validation = ValidationWindows(members, config=config)
    for model in models:
        windows.shuffle(model.index)
    step: Step | None = None
    while models:
        step = step or Step(stack, windows, [model.member for model in models])
        windows.select([model.index for model in models], [model.visited for model in models])
        with allow_tf32(stack.rows.device):
            for _ in range(min(model.steps_left for model in models)):
                step.make()
                for model in models:
                    model.steps_left -= 1
                progress.advance(len(models))
            finished = end_epochs(models, stack, validation, progress)
        for row in finished:
            models[row].write_weights(stack, row)
            yield models[row].index, models[row].history
        for model in models:
            if model.is_epoch_start:
                windows.shuffle(model.index)
        if finished:
            left = [row for row in range(len(models)) if row not in finished]
            models = [models[row] for row in left]
            stack.retain(left)
            step = None  # its CUDA graph was recorded with more models
    progress.finish()


def end_epochs(
    models: Sequence[ModelProgress], stack: Stack, validation: ValidationWindows, progress: Progress
) -> list[int]:
    """Validate the models whose epoch has ended; return the rows of those that stop training."""
    ended = [row for row, model in enumerate(models) if model.steps_left == 0]
    errors = validation_errors(models, ended, stack, validation)
    finished = [row for row in ended if models[row].end_epoch(errors.get(row), stack, row)]
    progress.advance(sum(models[row].steps_saved for row in finished))
    if errors:
        worst, epoch = max(errors.values()), max(models[row].history.epochs for row in ended)
        left = f"{len(models) - len(finished)} models left"
        progress.describe(f"{left}, epoch {epoch}, validation up to {worst:.4g}")
    return finished


@torch.no_grad()
def validation_errors(
    models: Sequence[ModelProgress],
    rows: Sequence[int],
    stack: Stack,
    validation: ValidationWindows,
) -> dict[int, float]:
    """Return the validation errors by row, as in single training, with one device-to-host copy."""
    rows = [row for row in rows if validation.has(models[row].index)]
    if not rows:
        return {}
    is_cuda = stack.rows.device.type == "cuda"
    at_once = GPU_BATCH if is_cuda else stack.config.batch_size * len(models)  # as in a step
    size = -(-at_once // len(rows))
    total = torch.zeros(len(rows), device=stack.rows.device)
    for x, share in validation.batches([models[row].index for row in rows], size):
        total += (stack.window_errors(x, rows) * share).sum(1)
    return dict(zip(rows, total.tolist(), strict=True))


class Stack:
    """Networks of one shape with their weights as rows of one matrix, and their optimiser.

    ``windows`` is the maximum number of windows in training; it decides about fused kernels.
    """

    def __init__(self, nets: Sequence[AxonNet], config: TrainConfig, *, windows: int = 0) -> None:
        self.config = config
        self.layout = Layout(nets[0])
        self._net = nets[0].config
        self.rows, self.target = self.layout.pack(nets)
        self.rows.requires_grad_()
        self.precision = step_precision(self.rows)
        self._fused = can_fuse(self._net, self.rows.device, windows=windows)
        make_update = FusedUpdate if self._fused else PlainUpdate
        self._update = make_update(self.rows, config, ema=self._net.ema)

    def step(self, batch: Batch, masks: LayerMasks = ()) -> Tensor:
        """Make one optimiser step of every model and return the losses (M,)."""
        found = losses(
            batch, self.rows, self.target, self.layout, masks, self.precision, fused=self._fused
        )
        (gradient,) = torch.autograd.grad(found.sum(), self.rows)
        self._update(self.rows, self.target, gradient)
        return found.detach()

    def window_errors(self, x: Tensor, rows: Sequence[int]) -> Tensor:
        """Return the reconstruction errors (M, B) of windows (M, B, T, F) of some rows."""
        chosen = self.rows if len(rows) == len(self.rows) else self.rows[list(rows)]
        return window_errors(x, self.layout.weights(chosen), self._net, fused=self._fused)

    def copy(self, row: int) -> Row:
        """Return a copy of one model's weights."""
        return self.rows[row].detach().clone(), self.target[row].clone()

    def retain(self, rows: list[int]) -> None:
        """Drop all models but these."""
        before = self.rows
        self.rows = before.detach()[rows].requires_grad_()
        self.target = self.target[rows]
        self._update.retain(before, self.rows, rows)


class Step:
    """The training step of a stack, recorded as a CUDA graph on a GPU."""

    def __init__(self, stack: Stack, windows: TrainingWindows, members: Sequence[Member]) -> None:
        self._stack, self._windows = stack, windows
        size, dtype = stack.config.batch_size, stack.precision.queries
        self._dropout = Dropout(members, steps=windows.steps, batch_size=size, dtype=dtype)
        self._replay = Replay(self._plain, device=stack.rows.device)

    def make(self) -> None:
        """Make one step of every model on its next batch."""
        self._dropout.draw()
        self._replay()

    def _plain(self) -> Tensor:
        return self._stack.step(self._windows.next_batch(), self._dropout.masks)


class ModelProgress:
    """The training progress of one model: position in its epoch, patience, best weights.

    ``index`` is its number among all members; its row in the stack changes when others stop.
    """

    def __init__(self, index: int, member: Member, config: TrainConfig) -> None:
        self.index = index
        self.member = member
        self.history = History()
        self._config = config
        self._steps = self.steps_left = config.steps(member.windows)
        self._patience = Patience(limit=config.patience, margin=MARGIN)
        self._error = float("inf")
        self._best: Row | None = None

    @property
    def visited(self) -> int:
        """Number of windows of this epoch that training has visited."""
        return (self._steps - self.steps_left) * self._config.batch_size

    @property
    def is_epoch_start(self) -> bool:
        """Whether the next step is the first of an epoch."""
        return self.steps_left == self._steps

    @property
    def steps_saved(self) -> int:
        """Number of steps that early stopping saves."""
        return (self._config.epochs - self.history.epochs) * self._steps

    def end_epoch(self, error: float | None, stack: Stack, row: int) -> bool:
        """Record the validation error of an epoch; return whether training stops."""
        self.steps_left = self._steps
        self.history.epochs += 1
        self.history.kept_epoch = self.history.epochs
        last = self.history.epochs == self._config.epochs
        if error is None:
            return last
        self.history.validation.append(error)
        if self._config.restore_best and error < self._error:
            self._error, self._best = error, stack.copy(row)
        return self._patience.is_over(error) or last

    def write_weights(self, stack: Stack, row: int) -> None:
        """Copy the best weights, or the last ones, into the member's network."""
        if self._best is not None:
            self.history.kept_epoch = self.history.validation.index(self._error) + 1
        stack.layout.unpack(*(self._best or stack.copy(row)), self.member.net)
