"""Times of several ways to do one thing, measured in turn so that a busy machine hits all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import torch


def timed(work: Callable[[], object], device: str) -> float:
    """Return the seconds ``work`` takes, what it left on the device included."""
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    wait()
    begin = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - begin


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
