"""How many CPU cores this process may use, and how numerical libraries are kept to them."""

from __future__ import annotations

import math
import os
from pathlib import Path

THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS",
)  # fmt: skip
CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def usable_cores() -> int:
    """Return how many CPU cores this process may use, by its affinity and its container's quota."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    quota = cpu_quota()
    return cores if quota is None else max(1, min(cores, math.ceil(quota)))


def cpu_quota(groups: Path = CONTROL_GROUPS, own: Path = OWN_GROUPS) -> float | None:
    """Return the CPU time per time that the control groups allow; None without such a limit.

    ``groups`` is where they are mounted, ``own`` names those of this process.
    """
    found = []
    for folder in _own_folders(groups, own):
        try:
            limit, period = (folder / "cpu.max").read_text().split()
        except (OSError, ValueError):
            try:
                limit = (folder / "cpu.cfs_quota_us").read_text()
                period = (folder / "cpu.cfs_period_us").read_text()
            except OSError:
                continue
        try:
            if float(limit) > 0:
                found.append(float(limit) / float(period))
        except (ValueError, ZeroDivisionError):  # "max": no limit
            continue
    return min(found, default=None)


def _own_folders(groups: Path, own: Path) -> list[Path]:
    """Return the folders of the control groups of this process and of those above them."""
    found = [groups, groups / "cpu"]
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        folder = groups / "cpu" if controllers else groups
        for part in Path(path.strip("/")).parts:
            folder /= part
            found.append(folder)
    return found


def thread_environment(threads: int) -> dict[str, str]:
    """Return the environment variables that limit numerical libraries to ``threads`` threads.

    OpenMP threads sleep while they wait, unless OMP_WAIT_POLICY is already set: on a busy machine
    spinning threads keep each other from working, and a fit takes ten times as long.
    """
    waiting = os.environ.get("OMP_WAIT_POLICY", "passive")
    return dict.fromkeys(THREAD_VARIABLES, str(threads)) | {"OMP_WAIT_POLICY": waiting}


def limit_threads() -> None:
    """Keep libraries that are loaded from now on to the cores this process may use.

    They find the affinity themselves, but not the quota of a container. Variables that are set
    already stay.
    """
    quota = cpu_quota()
    wanted = thread_environment(usable_cores())
    for name, value in wanted.items():
        if quota is not None or name == "OMP_WAIT_POLICY":
            os.environ.setdefault(name, value)
