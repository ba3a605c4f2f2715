"""Scores of many live streams, one row at a time, with the values of past rows cached.

Reference: ``AxonAD.decision_function`` on the stream's rows. Every stream has a slot: two ring
buffers with the cached values of its last rows. Streams need not be synchronous; those that are
scored in the same call share forward passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from axonad.data.frames import Matrix
from axonad.data.scaling import Scaler
from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.folding import centred
from axonad.fast.cpu.forward import ForwardNet
from axonad.live_windows import Scored
from axonad.model.net import AxonNet, Output
from axonad.score.terms import Term
from axonad.torch_runtime.device import resolve_device
from axonad.torch_runtime.threads import one_thread, share_out

CPU_BATCH = 8  # windows per forward pass: their activations must fit into the cache
GPU_BATCH = 256

Finish = Callable[[dict[str, NDArray[np.float64]]], Scored]
"""Makes scores and components of what was measured, by name: (windows,) or (values, windows)."""


class LiveNet:
    """A network prepared for live windows, shared by all streams of a detector."""

    @torch.no_grad()
    def __init__(self, net: AxonNet, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self.config = net.config
        self.forward = ForwardNet(net.to(self.device))
        self.last_steps = max(self.forward.reads, net.config.scored_steps)
        self.eps = torch.tensor(net.online.norm.eps, device=self.device)
        _, self.steps = centred(net.online)
        rows, steps = centred(net.target.encoder)
        self.target_steps = steps[-net.config.scored_steps :]
        own = torch.eye(net.config.channels, device=self.device)
        every, last = self.forward.row_weights()
        self._widths = [every.shape[1] + len(own), last.shape[1] + rows.shape[1]]
        self._weights = torch.cat([every, own, last, rows], dim=1)
        self.idle_passes: list[dict[int, LivePass]] = []  # not in use by a thread, by batch size

    @classmethod
    def of(cls, owner: object, net: AxonNet, device: str) -> LiveNet:
        """Return the prepared network of a detector; it is kept there while it is valid."""
        source, kept = vars(owner).get("_live_net", (None, None))
        if source == (net, device) and isinstance(kept, cls):
            return kept
        made = cls(net, resolve_device(device))
        vars(owner)["_live_net"] = (net, device), made
        return made

    def rows(self, x: Tensor) -> tuple[Tensor, ...]:
        """Return the cached values of rows (R, F): (R, C) for all steps, (R, C') for the last."""
        return torch.split(x @ self._weights, self._widths, dim=1)

    def borrow(self) -> dict[int, LivePass]:
        """Return passes that no other thread uses; give them back with :meth:`give_back`."""
        try:
            return self.idle_passes.pop()
        except IndexError:  # all are in use
            return {}

    def give_back(self, passes: dict[int, LivePass]) -> None:
        """Make passes available to other threads."""
        self.idle_passes.append(passes)


class LivePass:
    """A forward pass over B windows with preallocated memory and views.

    Write the cached values of the windows' rows into ``every`` (B, T, C) and ``last``
    (B, steps, C'), then call :meth:`measure`.
    """

    def __init__(self, net: LiveNet, every: Tensor, last: Tensor) -> None:
        self.every, self.last, self._net = every, last, net
        config, width = net.config, net.config.d_model
        qkv, rest = 3 * width, every.shape[2] - 3 * width - config.channels
        heads, shared, self._x = torch.split(every, [qkv, rest, config.channels], dim=2)
        heads = heads.view(*every.shape[:2], 3 * config.heads, -1).permute(2, 0, 1, 3)
        self._h, self._target_h = shared[..., :width], last[:, -config.scored_steps :, -width:]
        self._inverse = every.new_empty(*every.shape[:2], 1)
        self._target_inverse = every.new_empty(*self._target_h.shape[:2], 1)
        self._seen = net.forward.seen(heads, shared, last, self._inverse, self._target_inverse)
        self._buffers = Buffers(every)

    def measure(self, what: Iterable[Term], decoded: int | None = None) -> list[Tensor]:
        """Return each of the given functions of the windows, (B,) or (values, B)."""
        output, config = self.forward(decoded), self._net.config
        return [term(output, self._x, config) for term in what]

    def forward(self, decoded: int | None = None) -> Output:
        """Return the network's outputs, valid until the next call."""
        self._invert(self._h, self._net.steps, self._inverse)
        self._invert(self._target_h, self._net.target_steps, self._target_inverse)
        return self._net.forward(self._seen, self._buffers, decoded)

    def _invert(self, rows: Tensor, steps: Tensor, out: Tensor) -> None:
        """Write 1 / σ of LayerNorm for centred rows at their steps."""
        h = torch.add(rows, steps, out=self._buffers("norm", *rows.shape))
        torch.linalg.vector_norm(h, dim=-1, keepdim=True, out=out)
        torch.addcmul(self._net.eps, out, out, value=1 / h.shape[-1], out=out).rsqrt_()


class CachedWindows:
    """The last rows of live streams, each in a slot, in ring buffers; scores their windows.

    ``what`` is measured of each window on the device, ``finish`` makes the score of it. With
    ``decoded``, only that many last steps are reconstructed, because ``what`` reads no others.
    """

    def __init__(
        self, net: LiveNet, scaler: Scaler, *, what: Mapping[str, Term], finish: Finish,
        decoded: int | None = None,
    ) -> None:  # fmt: skip
        self.net = net
        self._scaler = scaler
        self._what, self._finish, self._decoded = what, finish, decoded
        config = net.config
        every, last = net.rows(torch.zeros(1, config.channels, device=net.device))
        self._every = _Ring(config.window, every)
        self._last = _Ring(net.last_steps, last)
        self._appended: list[int] = []  # rows appended since the slot was loaded
        self._on_cpu = net.device.type == "cpu"

    @torch.inference_mode()
    def load(self, slot: int, rows: Matrix) -> None:
        """Start a slot with the rows of a full window (T, F)."""
        if slot >= len(self._appended):
            slots = max(slot + 1, 2 * len(self._appended))
            self._appended += [0] * (slots - len(self._appended))
            self._every.grow(slots)
            self._last.grow(slots)
        every, last = self.net.rows(self._scaled(rows))
        self._every.fill(slot, every)
        self._last.fill(slot, last[-self.net.last_steps :])
        self._appended[slot] = 0

    @torch.inference_mode()
    def append(self, slots: Sequence[int], rows: Matrix) -> None:
        """Append one row (n, F) to each of n loaded slots; their oldest rows are dropped."""
        every, last = self.net.rows(self._scaled(rows))
        appended = [self._appended[slot] for slot in slots]
        self._every.put(slots, appended, every)
        self._last.put(slots, appended, last)
        for slot in slots:
            self._appended[slot] += 1

    def score(self, slots: Sequence[int]) -> Scored:
        """Return score and components of each slot's window."""
        batch = CPU_BATCH if self._on_cpu else GPU_BATCH
        parts = [slots[first : first + batch] for first in range(0, len(slots), batch)]
        found: list[list[Any]] = [[]] * len(parts)

        def work(items: Iterator[int]) -> None:
            passes = self.net.borrow()
            for i in items:
                found[i] = self._measure(parts[i], passes)
            self.net.give_back(passes)

        if not self._on_cpu:
            work(iter(range(len(parts))))
        elif len(parts) == 1:
            with one_thread():
                work(iter([0]))
        else:
            share_out(range(len(parts)), work)
        measured = [np.concatenate(values, axis=-1) for values in zip(*found, strict=True)]
        return self._finish(dict(zip(self._what, measured, strict=True)))

    @torch.inference_mode()
    def _measure(self, slots: Sequence[int], passes: dict[int, LivePass]) -> list[Any]:
        """Return what is measured of the windows in some slots, as lists."""
        size = len(slots)
        if size not in passes:
            if not self._on_cpu:
                passes.clear()  # each may be large on a GPU
            passes[size] = LivePass(self.net, self._every.new(size), self._last.new(size))
        run, appended = passes[size], [self._appended[slot] for slot in slots]
        self._every.read(slots, appended, out=run.every)
        self._last.read(slots, appended, out=run.last)
        return [values.tolist() for values in run.measure(self._what.values(), self._decoded)]

    def _scaled(self, rows: Matrix) -> Tensor:
        return torch.from_numpy(self._scaler.apply(rows)).to(self.net.device)


class _Ring:
    """The last ``size`` rows of each slot; a new row replaces the oldest."""

    def __init__(self, size: int, like: Tensor) -> None:
        self._size = size
        self._rows = like.new_zeros(0, like.shape[1])  # (slots · size, columns)
        steps = torch.arange(size)
        self._order = ((steps[:, None] + steps) % size).to(like.device)  # by position of the oldest

    def new(self, slots: int) -> Tensor:
        """Return an output buffer for :meth:`read` of ``slots`` slots."""
        return self._rows.new_zeros(slots, self._size, self._rows.shape[1])

    def grow(self, slots: int) -> None:
        """Allocate memory for ``slots`` slots in total."""
        rows = self._rows.new_zeros(slots * self._size, self._rows.shape[1])
        rows[: len(self._rows)] = self._rows
        self._rows = rows

    def fill(self, slot: int, rows: Tensor) -> None:
        """Set all rows of a slot, oldest first."""
        self._rows[slot * self._size : (slot + 1) * self._size] = rows

    def put(self, slots: Sequence[int], appended: Sequence[int], rows: Tensor) -> None:
        """Replace the oldest row of each slot, to which ``appended`` rows were added before."""
        places = [s * self._size + n % self._size for s, n in zip(slots, appended, strict=True)]
        if len(places) == 1:
            self._rows[places[0]] = rows[0]
        else:
            self._rows.index_copy_(0, torch.tensor(places, device=rows.device), rows)

    def read(self, slots: Sequence[int], appended: Sequence[int], *, out: Tensor) -> None:
        """Write the slots' rows (B, size, columns), oldest first."""
        size, rows = self._size, self._rows
        base = [slot * size for slot in slots]
        oldest = [count % size for count in appended]
        if len(base) == 1:  # two copies, no index to look up
            first, cut = base[0], base[0] + oldest[0]
            torch.cat([rows[cut : first + size], rows[first:cut]], out=out[0])
            return
        start, order = torch.tensor([base, oldest], device=rows.device)
        index = self._order.index_select(0, order).add_(start[:, None])
        torch.index_select(rows, 0, index.view(-1), out=out.view(-1, rows.shape[1]))
