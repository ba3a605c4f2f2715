"""Scores of many live streams, a row at a time: what a row gives is computed when it comes.

Every stream has a slot: two rings with what ``LiveNet`` keeps of its last
rows. Streams need not be in step; those that ask for a score at once share one pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from axonad.data.frames import Matrix
from axonad.data.scaling import Scaler
from axonad.fast.cpu.live import LiveNet
from axonad.fast.cpu.live_pass import LivePass
from axonad.live_windows import Scored
from axonad.score.standardise import RobustScale, combine
from axonad.score.terms import TERMS
from axonad.torch_runtime.threads import one_thread, share_out

CPU_BATCH = 8  # windows in one pass: what they need must stay in the cache
GPU_BATCH = 256


class KeptWindows:
    """The windows of live streams, each in a slot, and their scores."""

    def __init__(self, net: LiveNet, scaler: Scaler, scales: Mapping[str, RobustScale]) -> None:
        self.net = net
        self._scaler = scaler
        median, spread = (
            [getattr(scales[n], part) for n in TERMS] for part in ("median", "spread")
        )
        self._scale = RobustScale(np.reshape(median, (-1, 1)), np.reshape(spread, (-1, 1)))
        self._every, self._last = _Ring(net.places.every), _Ring(net.places.last)
        self._taken: list[int] = []  # rows taken since the slot was loaded
        self._on_cpu = net.device.type == "cpu"

    @torch.inference_mode()
    def load(self, slot: int, rows: Matrix) -> None:
        """Begin anew in a slot with the rows of a full window (T, F)."""
        if slot >= len(self._taken):
            self._grow(slot + 1)
        kept = self.net.keep(self._scaled(rows))
        self._every.fill(slot, kept.every)
        self._last.fill(slot, kept.last[-self.net.tail :])
        self._taken[slot] = 0

    @torch.inference_mode()
    def take(self, slots: Sequence[int], rows: Matrix) -> None:
        """Add a row (n, F) to each of n slots that hold a window; their oldest ones go."""
        kept = self.net.keep(self._scaled(rows))
        taken = [self._taken[slot] for slot in slots]
        self._every.put(slots, taken, kept.every)
        self._last.put(slots, taken, kept.last)
        for slot in slots:
            self._taken[slot] += 1

    def score(self, slots: Sequence[int]) -> Scored:
        """Return the score and the standardised terms of each slot's window."""
        batch = CPU_BATCH if self._on_cpu else GPU_BATCH
        parts = [slots[first : first + batch] for first in range(0, len(slots), batch)]
        found: list[list[list[float]]] = [[]] * len(parts)

        def work(items: Iterator[int]) -> None:
            passes = self.net.borrow()
            for i in items:
                found[i] = self._terms(parts[i], passes)
            self.net.idle.append(passes)

        if not self._on_cpu:
            work(iter(range(len(parts))))
        elif len(parts) == 1:
            with one_thread():
                work(iter([0]))
        else:
            share_out(range(len(parts)), work)
        values = self._scale.apply(np.concatenate(found, axis=1))
        terms = dict(zip(TERMS, values, strict=True))
        return combine(terms), terms

    @torch.inference_mode()
    def _terms(self, slots: Sequence[int], passes: dict[int, LivePass]) -> list[list[float]]:
        """Return the terms of the windows in some slots: a list for each, a value for each slot.

        ``passes`` are known by the number of their windows; new ones are added.
        """
        if len(slots) not in passes:
            if not self._on_cpu:
                passes.clear()  # one may be large there
            passes[len(slots)] = LivePass(self.net, len(slots))
        run, taken = passes[len(slots)], [self._taken[slot] for slot in slots]
        self._every.read(slots, taken, out=run.every)
        self._last.read(slots, taken, out=run.last)
        output, config = run(), self.net.config
        terms = [term(output, run.rows, config) for term in TERMS.values()]
        found: list[list[float]] = torch.stack(terms).tolist()
        return found

    def _scaled(self, rows: Matrix) -> Tensor:
        return torch.from_numpy(self._scaler.apply(rows)).to(self.net.device)

    def _grow(self, slots: int) -> None:
        slots = max(slots, 2 * len(self._taken))
        self._taken += [0] * (slots - len(self._taken))
        self._every.grow(slots)
        self._last.grow(slots)


class _Ring:
    """The last rows of each slot; a new row takes the place of the oldest."""

    def __init__(self, places: Tensor) -> None:
        size, columns = places.shape
        self._size, self._places = size, places
        self._rows = places.new_zeros(0, columns)  # (slots · size, columns)
        steps = torch.arange(size)
        self._order = ((steps[:, None] + steps) % size).to(places.device)  # by place of the oldest

    def grow(self, slots: int) -> None:
        rows = self._rows.new_zeros(slots * self._size, self._rows.shape[1])
        rows[: len(self._rows)] = self._rows
        self._rows = rows

    def fill(self, slot: int, rows: Tensor) -> None:
        """Set all rows of a slot, oldest first."""
        self._rows[slot * self._size : (slot + 1) * self._size] = rows

    def put(self, slots: Sequence[int], taken: Sequence[int], rows: Tensor) -> None:
        """Replace the oldest row of each slot, into which ``taken`` rows were put before."""
        places = [s * self._size + n % self._size for s, n in zip(slots, taken, strict=True)]
        if len(places) == 1:
            self._rows[places[0]] = rows[0]
        else:
            self._rows.index_copy_(0, torch.tensor(places, device=rows.device), rows)

    def read(self, slots: Sequence[int], taken: Sequence[int], *, out: Tensor) -> None:
        """Write the slots' rows (B, size, columns), oldest first, each plus what its place adds."""
        size, rows, places = self._size, self._rows, self._places
        base = [slot * size for slot in slots]
        oldest = [count % size for count in taken]
        if len(base) == 1:  # two pieces, nothing to look up
            first, cut, older = base[0], base[0] + oldest[0], size - oldest[0]
            torch.add(rows[cut : first + size], places[:older], out=out[0, :older])
            torch.add(rows[first:cut], places[older:], out=out[0, older:])
            return
        start, order = torch.tensor([base, oldest], device=rows.device)
        index = self._order.index_select(0, order).add_(start[:, None])
        torch.index_select(rows, 0, index.view(-1), out=out.view(-1, rows.shape[1]))
        out.add_(places)
