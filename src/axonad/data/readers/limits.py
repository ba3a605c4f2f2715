"""How much memory and time reading a file may take."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

SECONDS = 60.0  # time limit of a reading, plus one second per MiB of the file
SERIES_SHARE = 0.45  # of the machine's memory, for one series; joining its pieces takes it twice
PROCESS_SHARE = 0.8  # of the machine's memory, for the reader process
LEAST_MEMORY = 2**32  # bytes for the reader process; the stacks of its threads count
LONGEST_RECORD = 2**26  # bytes between two line ends outside of quotation marks
CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def machine_memory() -> int:
    """Return the bytes of memory of this machine or container."""
    sizes = [2**36]  # a platform that does not say
    with suppress(AttributeError, ValueError, OSError):
        sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in CGROUPS:
        with suppress(OSError, ValueError):  # absent, or the word "max"
            sizes.append(int(Path(path).read_text()))
    return min(size for size in sizes if size > 0)


def largest_series() -> int:
    """Return the bytes that the values of a series may take when a file is read at once."""
    return int(machine_memory() * SERIES_SHARE)


def seconds_for(size: int) -> float:
    """Return the time limit of reading a file, or a chunk of it, of ``size`` bytes."""
    return SECONDS + size / 2**20


def process_memory() -> int:
    """Return the bytes of memory that the reader process may take."""
    return max(int(machine_memory() * PROCESS_SHARE), LEAST_MEMORY)


def limit_this_process(memory: int) -> None:
    """Bound the memory of this process, and let it be the first to end if the machine's is out."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        memory = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
