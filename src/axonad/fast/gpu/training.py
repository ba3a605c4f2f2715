"""Training many networks of one shape at once, each as it would be trained alone.

Weights, optimiser and moving average of all models are rows of shared matrices, so a step of all of
them is one forward and one backward pass. Every model walks through its own epochs at its own
pace, stops by its own validation error, and leaves the stack when it does; what is left gets
smaller. The host waits for the device only where some model's epoch ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from axonad.fast.gpu.feed import Dropout, Feed, HeldOut, Member
from axonad.fast.gpu.fused import can_fuse
from axonad.fast.gpu.layout import Layout
from axonad.fast.gpu.optimiser import FusedUpdate, PlainUpdate, Update
from axonad.fast.gpu.precision import fast_products, step_precision
from axonad.fast.gpu.stack import Batch, Keep, losses, window_errors
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet
from axonad.progress import Progress
from axonad.torch_runtime.cuda_graph import Replay
from axonad.train.checkpoint import MARGIN, History, Patience
from axonad.train.loop import GPU_BATCH, TrainConfig

Row = tuple[Tensor, Tensor]  # one model's weights (P,) and target encoder (Q,)

FLOATS = 32  # per window, step and unit of width: what a training step keeps, rounded up
WEIGHTS = 200  # times width²: weights, gradients, moments, target, best copy, rounded up
SHARE = 0.5  # of the free memory of a GPU that a stack may take
CACHE = 2**20  # floats of one activation on a CPU; larger stacks are slower than separate fits
LAUNCH = 65_535  # windows in one launch of CUDA's attention


def models_at_once(config: NetConfig, batch_size: int, device: torch.device) -> int:
    """Return how many models of this shape one stack should hold on the device, at least 1."""
    size = batch_size * config.window * max(config.d_model, config.channels)
    if device.type != "cuda":
        return max(1, CACHE // size)
    needed = 4 * (FLOATS * size + WEIGHTS * config.d_model**2)
    free = torch.cuda.mem_get_info(device)[0] * SHARE
    return max(1, min(int(free / needed), LAUNCH // batch_size))


def train_stack(
    members: Sequence[Member], config: TrainConfig, progress: Progress
) -> Iterator[tuple[int, History]]:
    """Train all members' networks in place; yield a member's place and history when it is done.

    Each history, and each network up to the luck of its draws, is what ``train`` would give. The
    members share shape and device; their series may differ in length.
    """
    runs = [Run(place, member, config) for place, member in enumerate(members)]
    windows = sum(member.windows for member in members) * config.epochs
    stack = Stack([member.net for member in members], config, windows=windows)
    net = members[0].net.config
    plan = config.mask_plan(window=net.window, horizon=net.horizon)
    feed = Feed(members, plan=plan, batch_size=config.batch_size)
    held_out = HeldOut(members, batch_size=config.batch_size)
    for run in runs:
        feed.shuffle(run.place)
    step: Step | None = None
    while runs:
        step = step or Step(stack, feed, [run.member for run in runs])
        feed.point([run.place for run in runs], [run.visited for run in runs])
        with fast_products(stack.rows.device):
            for _ in range(min(run.steps_left for run in runs)):
                step.make()
                for run in runs:
                    run.steps_left -= 1
                progress.advance(len(runs))
            finished = end_epochs(runs, stack, held_out, progress)
        for row in finished:
            runs[row].release(stack, row)
            yield runs[row].place, runs[row].history
        for run in runs:
            if run.is_fresh:
                feed.shuffle(run.place)
        if finished:
            left = [row for row in range(len(runs)) if row not in finished]
            runs = [runs[row] for row in left]
            stack.keep(left)
            step = None  # what was recorded had more models
    progress.finish()


def end_epochs(
    runs: Sequence[Run], stack: Stack, held_out: HeldOut, progress: Progress
) -> list[int]:
    """Close the epochs that are through; return the rows of the models that need no other."""
    ended = [row for row, run in enumerate(runs) if run.steps_left == 0]
    errors = validation_errors(runs, ended, stack, held_out)
    finished = [row for row in ended if runs[row].ends_with(errors.get(row), stack, row)]
    progress.advance(sum(runs[row].steps_spared for row in finished))
    if errors:
        worst, epoch = max(errors.values()), max(runs[row].history.epochs for row in ended)
        models = f"{len(runs) - len(finished)} models left"
        progress.describe(f"{models}, epoch {epoch}, validation up to {worst:.4g}")
    return finished


@torch.no_grad()
def validation_errors(
    runs: Sequence[Run], rows: Sequence[int], stack: Stack, held_out: HeldOut
) -> dict[int, float]:
    """Return the validation error of those rows that have one: as alone, but in one transfer."""
    rows = [row for row in rows if held_out.has(runs[row].place)]
    if not rows:
        return {}
    least = GPU_BATCH if stack.rows.device.type == "cuda" else stack.config.batch_size * len(runs)
    size = -(-least // len(rows))  # on a CPU, a pass as large as a step
    total = torch.zeros(len(rows), device=stack.rows.device)
    for x, share in held_out.passes([runs[row].place for row in rows], size):
        total += (stack.window_errors(x, rows) * share).sum(1)
    return dict(zip(rows, total.tolist(), strict=True))


class Stack:
    """Networks of one shape, their weights as rows of one matrix, and the optimiser of them all.

    ``windows`` is how many they may see in training: many are worth kernels of their own.
    """

    def __init__(self, nets: Sequence[AxonNet], config: TrainConfig, *, windows: int = 0) -> None:
        self.config = config
        self.layout = Layout(nets[0])
        self._net = nets[0].config
        self.rows, self.target = self.layout.pack(nets)
        self.rows.requires_grad_()
        self.precision = step_precision(self.rows)
        self._fused = can_fuse(self._net, self.rows.device, windows=windows)
        update = FusedUpdate if self._fused else PlainUpdate
        self._update: Update = update(self.rows, config, ema=self._net.ema)

    def step(self, batch: Batch, keep: Keep = ()) -> Tensor:
        """Make one optimiser step of every model: its own loss, clipped by its own norm."""
        found = losses(
            batch, self.rows, self.target, self.layout, keep, self.precision, fused=self._fused
        )
        (gradient,) = torch.autograd.grad(found.sum(), self.rows)
        self._update(self.rows, self.target, gradient)
        return found.detach()

    def window_errors(self, x: Tensor, rows: Sequence[int]) -> Tensor:
        """Return the reconstruction error of windows (M, B, T, F) of some rows (M, B)."""
        chosen = self.rows if len(rows) == len(self.rows) else self.rows[list(rows)]
        return window_errors(x, self.layout.weights(chosen), self._net, fused=self._fused)

    def copy(self, row: int) -> Row:
        """Return a copy of one model's weights."""
        return self.rows[row].detach().clone(), self.target[row].clone()

    def keep(self, rows: list[int]) -> None:
        """Go on with these models alone, in this order."""
        before = self.rows
        self.rows = before.detach()[rows].requires_grad_()
        self.target = self.target[rows]
        self._update.keep(before, self.rows, rows)


class Step:
    """The next step of a stack: windows from the feed, dropout drawn; on CUDA, recorded."""

    def __init__(self, stack: Stack, feed: Feed, members: Sequence[Member]) -> None:
        self._stack, self._feed = stack, feed
        size, dtype = stack.config.batch_size, stack.precision.queries
        self._dropout = Dropout(members, steps=feed.steps, batch_size=size, dtype=dtype)
        self._replay = Replay(self._plain, device=stack.rows.device)

    def make(self) -> None:
        """Make one step of every model."""
        self._dropout.draw()
        self._replay()

    def _plain(self) -> Tensor:
        return self._stack.step(self._feed.batch(), self._dropout.keep)


class Run:
    """How far one model has come: its place in the epoch, its patience, its best weights."""

    def __init__(self, place: int, member: Member, config: TrainConfig) -> None:
        self.place = place
        self.member = member
        self.history = History()
        self._config = config
        self._steps = self.steps_left = -(-member.windows // config.batch_size)
        self._patience = Patience(limit=config.patience, margin=MARGIN)
        self._error = float("inf")
        self._best: Row | None = None

    @property
    def visited(self) -> int:
        """How many windows of this epoch the model has seen."""
        return (self._steps - self.steps_left) * self._config.batch_size

    @property
    def is_fresh(self) -> bool:
        """Whether an epoch is about to begin."""
        return self.steps_left == self._steps

    @property
    def steps_spared(self) -> int:
        """How many steps an early end saves."""
        return (self._config.epochs - self.history.epochs) * self._steps

    def ends_with(self, error: float | None, stack: Stack, row: int) -> bool:
        """Close an epoch with its validation error; say whether it was the model's last."""
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

    def release(self, stack: Stack, row: int) -> None:
        """Put the weights to keep into the member's network: the best, or the last."""
        if self._best is not None:
            self.history.kept_epoch = self.history.validation.index(self._error) + 1
        stack.layout.unpack(*(self._best or stack.copy(row)), self.member.net)
