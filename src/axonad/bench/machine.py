"""The machine a job ran on: what it is, which versions, how much memory a job took."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import threading
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PACKAGES = ("numpy", "torch", "scikit-learn")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS",
)  # fmt: skip
MIB = 2**20


def cores() -> int:
    """Return how many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_environment(threads: int) -> dict[str, str]:
    """Return the variables that make numerical libraries use so many threads.

    Threads that wait sleep, unless the caller's environment says otherwise: on a busy machine those
    that spin keep each other from working, and a fit takes ten times as long.
    """
    waiting = os.environ.get("OMP_WAIT_POLICY", "passive")
    return dict.fromkeys(THREAD_VARIABLES, str(threads)) | {"OMP_WAIT_POLICY": waiting}


@lru_cache(maxsize=1)
def commit() -> str:
    """Return the commit of the checkout this package runs from, ``+`` if changed; else nothing.

    The variable AXONAD_COMMIT speaks for a copy that has no history with it.
    """
    if "AXONAD_COMMIT" in os.environ:
        return os.environ["AXONAD_COMMIT"]
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():
        return ""
    words = ["git", "-C", str(root)]
    try:
        head = _run([*words, "rev-parse", "--short=10", "HEAD"])
        changed = _run([*words, "status", "--porcelain", "--", "src"])
    except (OSError, subprocess.SubprocessError):
        return ""
    return head + ("+" if changed else "")


@lru_cache(maxsize=1)
def packages() -> str:
    """Return the versions that decide numbers: Python, numpy, torch, scikit-learn."""
    found = [f"python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def describe_device(kind: str) -> str:
    """Return what ran: the graphics card's name, or the kind of processor and its cores."""
    if kind.startswith("cuda"):
        import torch

        return f"{kind}: {torch.cuda.get_device_name(kind)}"
    return f"{kind}: {platform.machine()}, {cores()} cores"


def process_memory(pid: int | None = None) -> float | None:
    """Return the resident memory of a process in MiB, or None where it cannot be known."""
    try:
        import psutil
    except ImportError:
        return None
    try:
        return float(psutil.Process(pid).memory_info().rss) / MIB
    except psutil.Error:
        return None


class PeakMemory:
    """Samples this process's memory while the body runs; ``mb`` is how far it rose."""

    def __init__(self, *, every: float = 0.02) -> None:
        self._every = every
        self._done = threading.Event()
        self.mb: float | None = None

    def __enter__(self) -> Self:
        self._before = self._highest = process_memory()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        if self._before is not None:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is None or self._highest is None:
            return
        self._done.set()
        self._thread.join()
        self._sample()
        self.mb = round(self._highest - self._before, 1)

    def _watch(self) -> None:
        while not self._done.wait(self._every):
            self._sample()

    def _sample(self) -> None:
        now = process_memory()
        if now is not None and self._highest is not None:
            self._highest = max(self._highest, now)


def give_back_memory() -> None:
    """Hand freed memory back to the system, where the C library can, so that it counts as free."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _run(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    return done.stdout.strip()


def reset_device_memory(device: Any) -> None:
    """Begin to count a graphics card's memory from here."""
    if str(device).startswith("cuda"):
        import torch

        torch.cuda.reset_peak_memory_stats(device)


def device_memory(device: Any) -> float | None:
    """Return the most memory this process held on a graphics card in MiB; None on a processor."""
    if not str(device).startswith("cuda"):
        return None
    import torch

    return round(torch.cuda.max_memory_allocated(device) / MIB, 1)
