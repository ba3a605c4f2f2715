"""Times of several ways to do one thing, measured in turn so that a busy machine hits all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import torch


def timed(work: Callable[[], object], device: str) -> float:
    """Return the seconds ``work`` takes, what it left on the device included.

    With one thread on a processor that is the processor's time: others who want the core do not
    count. With more it is the clock's, which is all that can be compared there.
    """
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    alone = device == "cpu" and torch.get_num_threads() == 1
    clock = time.process_time if alone else time.perf_counter
    wait()
    begin = clock()
    work()
    wait()
    return clock() - begin


def interleaved(
    ways: Mapping[str, Callable[[], object]], *, repeats: int, device: str
) -> dict[str, float]:
    """Return the median seconds of each way: A, B, C, A, B, C, ... after one untimed round."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for work in ways.values():
        timed(work, device)
    for _ in range(repeats):
        for name, work in ways.items():
            taken[name].append(timed(work, device))
    return {name: statistics.median(seconds) for name, seconds in taken.items()}
