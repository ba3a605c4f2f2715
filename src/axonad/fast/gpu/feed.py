"""Windows for many models at once: gathered, shuffled and masked for all in a few launches.

The series of all models lie one behind the other on the device. A table of all windows holds, in
the order of the current epoch, where each begins and where its masked blocks begin; every model has
its own part of the table, drawn from its own generator, so no model's luck depends on another's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from axonad.data.windows import count_windows
from axonad.fast.gpu.stack import Batch, Keep, judged_steps
from axonad.model.net import AxonNet
from axonad.torch_runtime.windows import gather_windows
from axonad.train.mask import MaskPlan, draw_blocks, mask_blocks


@dataclass(eq=False)
class Member:
    """One model to train: its network, the series it learns from, its own randomness."""

    net: AxonNet
    series: Tensor
    validation: Tensor | None
    generator: torch.Generator

    @property
    def windows(self) -> int:
        """How many windows an epoch visits."""
        return count_windows(len(self.series), self.net.config.window)


class Feed:
    """Training windows of all models, each model's in its own random order."""

    def __init__(self, members: Sequence[Member], *, plan: MaskPlan, batch_size: int) -> None:
        self._members = members
        self._plan = plan
        self.steps, self._from_block = judged_steps(members[0].net.config, plan)
        self._window = members[0].net.config.window
        self._series = torch.cat([member.series for member in members])
        self._device = self._series.device
        self._offsets = _starts([len(member.series) for member in members])
        self._counts = [member.windows for member in members]
        self._firsts = _starts(self._counts)
        self._batch = torch.arange(batch_size, device=self._device)
        self._first = self._count = self._place = self._batch[:0]
        columns = 1 + plan.blocks  # where the window begins, where each block begins
        self._table = torch.empty(
            sum(self._counts), columns, dtype=torch.int32, device=self._device
        )

    def shuffle(self, model: int) -> None:
        """Draw a model's next epoch: the order of its windows and their masks."""
        member, count = self._members[model], self._counts[model]
        generator, device = member.generator, self._device
        part = self._table[self._firsts[model] :][:count]
        part[:, 0] = torch.randperm(count, device=device, generator=generator)
        part[:, 0] += self._offsets[model]
        part[:, 1:] = draw_blocks(
            count, window=self._window, plan=self._plan, device=device, generator=generator
        )[:, :, 0]

    def point(self, models: Sequence[int], done: Sequence[int]) -> None:
        """Say which models come next, and how many windows of its epoch each has had.

        As long as they are as many, the memory a recorded step reads stays where it is.
        """
        firsts = [self._firsts[model] for model in models]
        counts = [self._counts[model] for model in models]
        state = torch.tensor([firsts, counts, list(done)], device=self._device)[..., None]
        first, count, place = state[0], state[1], state[2] + self._batch
        if len(self._place) == len(models):
            self._first.copy_(first)
            self._count.copy_(count)
            self._place.copy_(place)
        else:
            self._first, self._count, self._place = first, count, place

    def batch(self) -> Batch:
        """Return the next windows of every model; a shorter batch is filled up without a share."""
        inside = self._place < self._count
        rows = self._table[self._first + torch.minimum(self._place, self._count - 1)]
        self._place += len(self._batch)
        x = gather_windows(self._series, rows[..., 0].flatten(), self._window)
        x = x.view(*inside.shape, *x.shape[1:])
        share = inside / inside.sum(1, keepdim=True)
        if self._from_block:
            mask = inside[:, None].expand(-1, self.steps, -1)
            return Batch(x, rows[..., 1], mask, share)
        mask = mask_blocks(rows[..., 1:].flatten(0, 1)[..., None], self._window, self._plan.span)
        mask = mask.view(*inside.shape, -1)[..., -self.steps :] * inside[..., None]
        return Batch(x, None, mask.transpose(1, 2), share)


class HeldOut:
    """Validation windows of the models that have some."""

    def __init__(self, members: Sequence[Member], *, batch_size: int) -> None:
        self._window = members[0].net.config.window
        self._batch_size = batch_size
        parts = [m.series[:0] if m.validation is None else m.validation for m in members]
        self._series = torch.cat(parts)
        self._offsets = _starts([len(part) for part in parts])
        self._counts = [count_windows(len(p), self._window) if len(p) else 0 for p in parts]

    def has(self, model: int) -> bool:
        """Whether the model has anything to validate on."""
        return self._counts[model] > 0

    def passes(self, models: Sequence[int], size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Go through the models' windows, ``size`` at a time: windows and their shares.

        The shares make the sum of the windows' errors the mean over batches of the batches' means,
        as a model would have it alone, however many windows a pass takes.
        """
        device = self._series.device
        counts = torch.tensor([self._counts[m] for m in models], device=device)[:, None]
        offsets = torch.tensor([self._offsets[m] for m in models], device=device)[:, None]
        batches = -(-counts // self._batch_size)
        for first in range(0, max(self._counts[m] for m in models), size):
            place = first + torch.arange(size, device=device)
            behind = counts - place // self._batch_size * self._batch_size
            length = behind.clamp(max=self._batch_size)  # of the batch a window would lie in
            share = torch.where(place < counts, 1.0 / (length * batches), 0.0)
            starts = offsets + torch.minimum(place, counts - 1)
            x = gather_windows(self._series, starts.flatten(), self._window)
            yield x.view(*share.shape, *x.shape[1:]), share


class Dropout:
    """What dropout multiplies each layer of every model by, drawn from its own generator."""

    def __init__(
        self, members: Sequence[Member], *, steps: int, batch_size: int, dtype: torch.dtype
    ) -> None:
        config = members[0].net.config
        self._generators = [member.generator for member in members]
        self._stays = 1 - config.dropout
        device = members[0].series.device
        counts = config.layer_steps(steps) if config.dropout else []
        room = sum(counts), batch_size, config.d_model
        self._all = torch.empty(len(members), *room, dtype=dtype, device=device)
        self.keep: Keep = torch.split(self._all, counts, dim=1) if counts else ()

    def draw(self) -> None:
        """Draw anew, into the same memory: 0, or what makes up for the zeros."""
        if not self.keep:
            return
        for row, generator in zip(self._all, self._generators, strict=True):
            row.bernoulli_(self._stays, generator=generator)
        self._all /= self._stays


def _starts(lengths: Sequence[int]) -> list[int]:
    """Return where each part begins when all lie one behind the other."""
    return list(accumulate(lengths[:-1], initial=0))
