"""Alternating time measurements of several functions, so that other load affects all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import torch


def timed(work: Callable[[], object], device: str) -> float:
    """Return the seconds that ``work`` takes, including its pending work on the device.

    With one thread on a CPU this is CPU time, so other load on the core does not count. Otherwise
    it is wall-clock time, because CPU time would add up all threads.
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
    """Return the median seconds of each function, run as A, B, C, A, B, C, ... after a warm-up."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for work in ways.values():
        timed(work, device)
    for _ in range(repeats):
        for name, work in ways.items():
            taken[name].append(timed(work, device))
    return {name: statistics.median(seconds) for name, seconds in taken.items()}
