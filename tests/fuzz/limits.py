"""Limits of time per item and of memory per process, so that a fuzzer reports a hang as a failure.

>>> with limited(5):
...     pass
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class TooSlow(BaseException):
    """An item took too long. Not an ``Exception``, so that no code under test catches it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise ``TooSlow`` in the main thread if the block takes longer, also while it waits."""

    def stop(*_: Any) -> None:
        raise TooSlow(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def limited_memory(mebibytes: int) -> Iterator[None]:
    """Let the process get at most so much more memory than it has; then ``MemoryError``."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = _data_bytes() + mebibytes * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def items(quick: int, *, start: int = 0) -> range:
    """Return the seeds of a run: ``quick`` of them, or as many as ``AXONAD_FUZZ`` says."""
    return range(start, start + int(os.environ.get("AXONAD_FUZZ", quick)))


def _data_bytes() -> int:
    """Return the size of the process's data, in the sense of RLIMIT_DATA."""
    with Path("/proc/self/status").open() as file:
        lines = [line for line in file if line.startswith("VmData:")]
    return int(lines[0].split()[1]) * 1024
