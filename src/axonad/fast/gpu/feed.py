"""Batches of windows for a stack of models, gathered, shuffled and masked in a few kernel launches.

The series of all models are concatenated on the device. A table lists all windows in the order of
the current epoch: the row each begins at, and the step each of its masked blocks begins at. Every
model has its own part of the table, drawn from its own RNG, so its random numbers do not depend on
the other models of the stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from axonad.fast.gpu.stack import Batch, LayerMasks, predicted_steps
from axonad.model.net import AxonNet
from axonad.torch_runtime.windows import Windows, gather_windows
from axonad.train.loop import TrainConfig
from axonad.train.mask import MaskPlan, draw_blocks, mask_blocks


@dataclass(eq=False)
class Member:
    """One model of a stack: its network, its windows for training and validation, and its RNG."""

    net: AxonNet
    series: Windows
    validation: Windows | None
    generator: torch.Generator

    @property
    def windows(self) -> int:
        """Number of training windows."""
        return len(self.series)

    @property
    def validation_windows(self) -> int:
        """Number of validation windows."""
        return 0 if self.validation is None else len(self.validation)


class TrainingWindows:
    """The training windows of all models, each model's in its own random order."""

    def __init__(self, members: Sequence[Member], *, plan: MaskPlan, config: TrainConfig) -> None:
        self._members = members
        self._plan = plan
        self.steps, self._at_block = predicted_steps(members[0].net.config, plan)
        self._window = members[0].net.config.window
        self._series = torch.cat([member.series.rows for member in members])
        self._device = self._series.device
        self._offsets = _starts([len(member.series.rows) for member in members])
        self._counts = [config.visited(member.windows) for member in members]
        self._firsts = _starts(self._counts)
        self._batch = torch.arange(config.batch_size, device=self._device)
        self._first = self._count = self._position = self._batch[:0]
        columns = 1 + plan.blocks  # first row of the window, first step of each block
        self._table = torch.empty(
            sum(self._counts), columns, dtype=torch.int32, device=self._device
        )

    def shuffle(self, model: int) -> None:
        """Draw a model's next epoch: the order of its windows and their masks."""
        member, count = self._members[model], self._counts[model]
        generator, device = member.generator, self._device
        part = self._table[self._firsts[model] :][:count]
        drawn = torch.randperm(member.windows, device=device, generator=generator)[:count]
        part[:, 0] = member.series.starts[drawn] + self._offsets[model]
        part[:, 1:] = draw_blocks(
            count, window=self._window, plan=self._plan, device=device, generator=generator
        )[:, :, 0]

    def select(self, models: Sequence[int], visited: Sequence[int]) -> None:
        """Set the models of the next batches and how many windows of its epoch each has visited.

        While their number stays the same, so do the memory addresses that a CUDA graph reads.
        """
        firsts = [self._firsts[model] for model in models]
        counts = [self._counts[model] for model in models]
        state = torch.tensor([firsts, counts, list(visited)], device=self._device)[..., None]
        first, count, position = state[0], state[1], state[2] + self._batch
        if len(self._position) == len(models):
            self._first.copy_(first)
            self._count.copy_(count)
            self._position.copy_(position)
        else:
            self._first, self._count, self._position = first, count, position

    def next_batch(self) -> Batch:
        """Return the next windows of every model; the last batch of an epoch is padded."""
        inside = self._position < self._count
        rows = self._table[self._first + torch.minimum(self._position, self._count - 1)]
        self._position += len(self._batch)
        x = gather_windows(self._series, rows[..., 0].flatten(), self._window)
        x = x.view(*inside.shape, *x.shape[1:])
        share = inside / inside.sum(1, keepdim=True)
        if self._at_block:
            mask = inside[:, None].expand(-1, self.steps, -1)
            return Batch(x, rows[..., 1], mask, share)
        mask = mask_blocks(rows[..., 1:].flatten(0, 1)[..., None], self._window, self._plan.span)
        mask = mask.view(*inside.shape, -1)[..., -self.steps :] * inside[..., None]
        return Batch(x, None, mask.transpose(1, 2), share)


class ValidationWindows:
    """The validation windows of the models that have a validation series."""

    def __init__(self, members: Sequence[Member], *, config: TrainConfig) -> None:
        self._window = members[0].net.config.window
        self._batch_size = config.batch_size
        none = members[0].series.rows[:0]
        parts = [none if m.validation is None else m.validation.rows for m in members]
        self._series = torch.cat(parts)
        rows = _starts([len(part) for part in parts])
        begins = [
            none.new_empty(0, dtype=torch.int64) if m.validation is None else m.validation.starts
            for m in members
        ]
        self._begins = torch.cat([each + row for each, row in zip(begins, rows, strict=True)])
        self._windows = [member.validation_windows for member in members]
        self._offsets = _starts(self._windows)
        self._counts = [  # evenly spaced windows, all of them unless an epoch visits a part only
            config.judged(m.validation_windows, training=m.windows) if m.validation_windows else 0
            for m in members
        ]

    def has(self, model: int) -> bool:
        """Whether the model has validation windows."""
        return self._counts[model] > 0

    def batches(self, models: Sequence[int], size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield ``size`` windows of every model (M, size, T, F) and their weights (M, size).

        For any ``size``, the weighted sum of errors is that of single training: the mean over
        batches of ``batch_size`` windows of the mean error in the batch.
        """
        device = self._series.device
        counts = torch.tensor([self._counts[m] for m in models], device=device)[:, None]
        offsets = torch.tensor([self._offsets[m] for m in models], device=device)[:, None]
        windows = torch.tensor([self._windows[m] for m in models], device=device)[:, None]
        batches = -(-counts // self._batch_size)
        for first in range(0, max(self._counts[m] for m in models), size):
            position = first + torch.arange(size, device=device)
            left = counts - position // self._batch_size * self._batch_size
            length = left.clamp(max=self._batch_size)  # of the batch the window belongs to
            share = torch.where(position < counts, 1.0 / (length * batches), 0.0)
            numbers = offsets + torch.minimum(position, counts - 1) * windows // counts
            x = gather_windows(self._series, self._begins[numbers.flatten()], self._window)
            yield x.view(*share.shape, *x.shape[1:]), share


class Dropout:
    """The dropout masks of all models, each model's drawn from its own RNG.

    ``masks`` has one tensor (M, steps, B, D) per layer; it is empty without dropout.
    """

    def __init__(
        self, members: Sequence[Member], *, steps: int, batch_size: int, dtype: torch.dtype
    ) -> None:
        config = members[0].net.config
        self._generators = [member.generator for member in members]
        self._keep_rate = 1 - config.dropout
        device = members[0].series.device
        counts = config.layer_steps(steps) if config.dropout else []
        shape = len(members), sum(counts), batch_size, config.d_model
        self._all = torch.empty(shape, dtype=dtype, device=device)
        self.masks: LayerMasks = torch.split(self._all, counts, dim=1) if counts else ()

    def draw(self) -> None:
        """Draw new masks into the same memory: 0, or 1 / (1 - dropout)."""
        if not self.masks:
            return
        for row, generator in zip(self._all, self._generators, strict=True):
            row.bernoulli_(self._keep_rate, generator=generator)
        self._all /= self._keep_rate


def _starts(lengths: Sequence[int]) -> list[int]:
    """Return the offset of each part in the concatenation of all."""
    return list(accumulate(lengths[:-1], initial=0))
