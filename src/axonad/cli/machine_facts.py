"""What a bug report needs to know about a machine, without paths and names of people or hosts."""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from axonad.cli.installed import installed_version
from axonad.cores import THREAD_VARIABLES, usable_cores
from axonad.data.readers import read

ROWS = "a,b\n1,2\n3,4\n"


def cpu() -> dict[str, Any]:
    """Return model, architecture, cores and memory in bytes."""
    return {
        "model": _cpu_model(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "memory": _memory(),
    }


def torch_facts() -> dict[str, Any]:
    """Return what torch can use: instruction set, threads, GPUs; or why it cannot be loaded."""
    if installed_version("torch") is None:
        return {"installed": False}
    try:
        import torch
    except Exception as error:  # a broken installation may fail in many ways
        return {"error": private(f"{type(error).__name__}: {error}")}
    gpus = [
        {
            "name": (about := torch.cuda.get_device_properties(number)).name,
            "memory": about.total_memory,
            "compute_capability": f"{about.major}.{about.minor}",
        }
        for number in range(torch.cuda.device_count() if torch.cuda.is_available() else 0)
    ]
    return {
        "cuda_build": torch.version.cuda,
        "gpus": gpus,
        "mps": torch.backends.mps.is_available(),
        "instruction_set": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "nvidia_driver": shutil.which("nvidia-smi") is not None,
    }


def numpy_blas() -> str:
    """Return the linear algebra library of numpy with its version."""
    import numpy as np

    config: Any = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def thread_variables() -> dict[str, str]:
    """Return the environment variables that limit threads, those that are set."""
    names = (*THREAD_VARIABLES, "OMP_WAIT_POLICY")
    return {name: os.environ[name][:20] for name in names if name in os.environ}


def disk() -> dict[str, int | None]:
    """Return the free bytes of the working and of the temporary folder."""
    return {"working_folder": _free(Path.cwd), "temporary_folder": _free(_temporary)}


def text_encoding() -> str:
    """Return the encodings of the terminal and of files."""
    return f"{getattr(sys.stdout, 'encoding', None)}, files {locale.getpreferredencoding(False)}"


def check_reading() -> str:
    """Read a small file as every command does; return an empty text, or what went wrong."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            path.write_text(ROWS)
            rows = len(read(path))
    except Exception as error:
        return private(f"{type(error).__name__}: {error}")
    return "" if rows == 2 else f"read {rows} rows instead of 2"


def private(text: str) -> str:
    """Return a message in which words that look like paths are cut.

    >>> private("OSError: cannot read '/home/anna/x.csv', 3 times")
    "OSError: cannot read '…, 3 times"
    """
    words = []
    for word in " ".join(text.split())[:300].split(" "):
        cut = min((at for mark in "/\\" if (at := word.find(mark)) >= 0), default=None)
        comma = "," if word.endswith(",") else ""
        words.append(word if cut is None else f"{word[:cut]}…{comma}")
    return " ".join(words)


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        named = []
    return named[0] if named else platform.processor() or "unknown"


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None


def _temporary() -> Path:
    return Path(tempfile.gettempdir())


def _free(folder: Callable[[], Path]) -> int | None:
    try:
        return shutil.disk_usage(folder()).free
    except OSError:
        return None
