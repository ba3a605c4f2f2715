"""A step recorded as a CUDA graph and replayed, so that the host launches one graph per step.

A training step of a small network is hundreds of short kernels, and launching them one by one takes
longer than running them. A replay runs the same kernels on the same memory with the same RNG, so
its result is that of the plain step.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import torch
from torch import Tensor

Value = TypeVar("Value")

WARM = 3  # plain steps before recording: libraries load, the optimiser allocates its state


class Replay(Generic[Value]):
    """Calls ``step()``; on CUDA, records it after ``warm`` plain calls and replays it from then on.

    ``step`` must read and write only tensors that stay at their address, must not synchronise with
    the host, and returns tensors that the next call overwrites. Python numbers in it (a learning
    rate, the epoch) are recorded as constants: call :meth:`renew` when they change. On other
    devices, and with ``use=False``, every call is the plain step.
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
            return self._warm_up()
        if self._graph is None or self._stale:
            self._graph = self._record(self._graph)
            self._stale = False
        self._graph.replay()
        return self._value

    def renew(self) -> None:
        """Discard the recording; the next call records the step again."""
        self._stale = True

    def _warm_up(self) -> Value:
        """Make a plain step on the stream of the recording, as CUDA graphs require."""
        current = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            value = self._step()
        current.wait_stream(self._stream)
        return value

    def _record(self, before: torch.cuda.CUDAGraph | None) -> torch.cuda.CUDAGraph:
        """Record the step in the memory pool of the previous recording, which is not used again."""
        graph = torch.cuda.CUDAGraph()
        pool = None if before is None else before.pool()
        with _no_garbage_collection(), torch.cuda.graph(graph, stream=self._stream, pool=pool):
            self._value = self._step()
        return graph


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector: freeing an old graph during a recording would break it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Recorded(Generic[Value]):
    """Calls ``step(starts)``; on CUDA, batches of exactly ``size`` starts are replayed.

    See :class:`Replay`; a batch of another size is a plain call.
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
        self._replay = Replay(lambda: step(self._starts), device=device, warm=warm, use=use)
        self._starts = torch.zeros(size, dtype=torch.int64, device=device)

    def __call__(self, starts: Tensor) -> Value:
        """Make one step."""
        if not self._replay.records or len(starts) != len(self._starts):
            return self._step(starts)
        self._starts.copy_(starts)
        return self._replay()

    def renew(self) -> None:
        """Discard the recording; the next call records the step again."""
        self._replay.renew()
