"""A step recorded once and replayed: on CUDA the host then launches one graph, not many kernels.

A training step of a small network is hundreds of short kernels, and starting them one by one costs
more than running them. Replaying runs the same kernels on the same memory with the same random
generator, so the answer is the one the plain step gives.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import torch
from torch import Tensor

Value = TypeVar("Value")

WARM = 3  # steps made plainly before recording: libraries load, the optimiser makes its state


class Replay(Generic[Value]):
    """Calls ``step()``; on CUDA, the same work is replayed once it has been recorded.

    ``step`` must read and write nothing but tensors that stay in place, must not make the host
    wait, and returns tensors that the next call overwrites. Numbers of Python in it (a
    learning rate, the epoch) are recorded as they are: say :meth:`renew` when they change.
    Elsewhere, and with ``use=False``, it is the plain step.
    """

    def __init__(
        self,
        step: Callable[[], Value],
        *,
        device: torch.device,
        warm: int = WARM,
        use: bool = True,
    ) -> None:
        self._step = step
        self._left = warm
        self.records = use and device.type == "cuda"
        self._graph: torch.cuda.CUDAGraph | None = None
        self._stale = False
        if self.records:
            self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def __call__(self) -> Value:
        """Make one step."""
        if not self.records:
            return self._step()
        if self._left > 0:
            self._left -= 1
            return self._plainly()
        if self._graph is None or self._stale:
            self._graph = self._record(self._graph)
            self._stale = False
        self._graph.replay()
        return self._value

    def renew(self) -> None:
        """Forget the recording; the next step makes a new one."""
        self._stale = True

    def _plainly(self) -> Value:
        """Make the step on the stream of the recording, as recording wants it."""
        current = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            value = self._step()
        current.wait_stream(self._stream)
        return value

    def _record(self, before: torch.cuda.CUDAGraph | None) -> torch.cuda.CUDAGraph:
        """Record the step in the memory of the recording before, which is not replayed again."""
        graph = torch.cuda.CUDAGraph()
        pool = None if before is None else before.pool()
        with _no_collecting(), torch.cuda.graph(graph, stream=self._stream, pool=pool):
            self._value = self._step()
        return graph


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Keep the garbage collector out: an old recording it freed would spoil the new one."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class Recorded(Generic[Value]):
    """Calls ``step(starts)``; on CUDA, batches of ``size`` starts are replayed.

    The rest of :class:`Replay` holds; a batch of another size is made plainly.
    """

    def __init__(
        self,
        step: Callable[[Tensor], Value],
        *,
        size: int,
        device: torch.device,
        warm: int = WARM,
        use: bool = True,
    ) -> None:
        self._step = step
        self._replay = Replay(self._next, device=device, warm=warm, use=use)
        self._starts = torch.zeros(size, dtype=torch.int64, device=device)

    def __call__(self, starts: Tensor) -> Value:
        """Make one step."""
        if not self._replay.records or len(starts) != len(self._starts):
            return self._step(starts)
        self._starts.copy_(starts)
        return self._replay()

    def renew(self) -> None:
        """Forget the recording; the next step makes a new one."""
        self._replay.renew()

    def _next(self) -> Value:
        return self._step(self._starts)
