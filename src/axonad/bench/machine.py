"""The machine a job runs on: cores, versions, devices, and how much memory the job used."""

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
from typing import Any, Self

from axonad.cores import usable_cores

PACKAGES = ("numpy", "torch", "scikit-learn")
MIB = 2**20
SAMPLE_SECONDS = 0.02  # between two readings of PeakMemory


@lru_cache(maxsize=1)
def commit() -> str:
    """Return the git commit this package runs from, with ``+`` if ``src`` has changes.

    Empty outside a git checkout. The variable AXONAD_COMMIT names the commit of a copy without one.
    """
    if "AXONAD_COMMIT" in os.environ:
        return os.environ["AXONAD_COMMIT"]
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():
        return ""
    try:
        head = _git(root, "rev-parse", "--short=10", "HEAD")
        changed = _git(root, "status", "--porcelain", "--", "src")
    except (OSError, subprocess.SubprocessError):
        return ""
    return head + ("+" if changed else "")


def _git(root: Path, *words: str) -> str:
    # Without optional locks: a killed run must not leave a lock in the checkout.
    command = ["git", "--no-optional-locks", "-C", str(root), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    return done.stdout.strip()


@lru_cache(maxsize=1)
def packages() -> str:
    """Return the versions on which numbers depend: Python, numpy, torch, scikit-learn."""
    found = [f"python {platform.python_version()}"]
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)


def describe_device(device: str) -> str:
    """Return the GPU's name, or the CPU's architecture and number of cores."""
    if device.startswith("cuda"):
        import torch

        return f"{device}: {torch.cuda.get_device_name(device)}"
    return f"{device}: {platform.machine()}, {usable_cores()} cores"


def process_memory(pid: int | None = None) -> float | None:
    """Return the resident memory of a process in MiB; None if it is gone or psutil is missing."""
    try:
        import psutil
    except ImportError:
        return None
    try:
        return float(psutil.Process(pid).memory_info().rss) / MIB
    except psutil.Error:
        return None


class PeakMemory:
    """Measures how far this process's memory rises inside a ``with`` block: ``mb``, in MiB."""

    mb: float | None = None  # without psutil it stays None

    def __enter__(self) -> Self:
        self._before = process_memory()
        self._highest = self._before or 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        if self._before is not None:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            self._done.set()
            self._thread.join()
            self.mb = round(max(self._highest, process_memory() or 0.0) - self._before, 1)

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            self._highest = max(self._highest, process_memory() or 0.0)


def trim_heap() -> None:
    """Return freed heap memory to the operating system, where the C library supports it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def reset_device_memory(device: Any) -> None:
    """Reset the peak that ``device_memory`` reports."""
    if str(device).startswith("cuda"):
        import torch

        torch.cuda.reset_peak_memory_stats(device)


def device_memory(device: Any) -> float | None:
    """Return the peak GPU memory this process allocated, in MiB; None for a CPU."""
    if not str(device).startswith("cuda"):
        return None
    import torch

    return round(torch.cuda.max_memory_allocated(device) / MIB, 1)
