"""A worker: a child process that runs jobs while its parent watches time and memory.

A job that hangs, exhausts memory or crashes the interpreter ends its own process only. The parent
makes a row that says so and starts a new process for the next job. The child is an ordinary
subprocess (``python -m axonad.bench.engines.worker``), so a caller's script needs no
``if __name__ == "__main__"`` guard, and a Ray actor can own one.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from axonad.bench.evaluation import failed_row
from axonad.bench.execute import Setting, execute
from axonad.bench.job import Job
from axonad.bench.machine import process_memory, trim_heap
from axonad.bench.row import Row
from axonad.bench.sources import LoadedSeries, SeriesRef, load
from axonad.cores import thread_environment
from axonad.errors import AxonADError
from axonad.extras import is_installed, missing
from axonad.parent_process import exit_with_parent

POLL_SECONDS = 0.05  # between two checks of a running job
START_SECONDS = 300.0  # time limit for a process to import its packages
EXIT_SECONDS = 10.0  # time limit for a process to exit after closing its connection


class StoppedError(AxonADError):
    """The worker was closed while a job was running."""


class Worker:
    """Runs jobs one after another in a child process, within the setting's limits."""

    def __init__(self, setting: Setting, *, threads: int = 1) -> None:
        if setting.memory_limit is not None and process_memory() is None:
            raise missing("psutil", what="a memory limit needs")
        self._setting = setting
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = threading.Event()

    @property
    def pid(self) -> int | None:
        """The id of the child process; None while there is none."""
        process = self._process
        return None if process is None else process.pid

    def run_job(self, job: Job, series: LoadedSeries | None = None) -> Row:
        """Return the job's row, whatever happens to the process."""
        try:
            if self._process is None or self._process.poll() is not None:
                self._start()
            self._connection.send((job, series))
            return self._wait(job)
        except StoppedError:
            self._kill()
            raise
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return self._crashed(job)
        except OSError as error:
            self._kill()
            return failed_row(job, status="failed", reason=f"no worker could be started: {error}")

    def close(self) -> None:
        """End the process, even in the middle of a job."""
        self._closed.set()
        self._kill()

    def _start(self) -> None:
        self._check_open()
        ours, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "axonad.bench.engines.worker", str(theirs.fileno())],
            env={**os.environ, **thread_environment(self._threads)},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C in the terminal reaches the parent only
        )
        theirs.close()
        self._connection = Connection(ours.detach())
        self._connection.send(self._setting)
        deadline = time.monotonic() + START_SECONDS
        while not self._connection.poll(POLL_SECONDS):
            self._check_open()
            if time.monotonic() > deadline:
                raise BrokenPipeError
        self._connection.recv()
        self._memory_at_start = self._memory()

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise StoppedError("the worker was closed")

    def _wait(self, job: Job) -> Row:
        """Return the row of the running job; kill the process if it exceeds a limit."""
        limits, started = self._setting, time.monotonic()
        while not self._connection.poll(POLL_SECONDS):
            self._check_open()
            seconds = time.monotonic() - started
            if limits.time_limit is not None and seconds > limits.time_limit:
                self._kill()
                reason = f"took longer than the limit of {limits.time_limit:g} s"
                return failed_row(job, status="timeout", reason=reason)
            used = self._memory() - self._memory_at_start
            if limits.memory_limit is not None and used > limits.memory_limit:
                self._kill()
                reason = f"took more memory than the limit of {limits.memory_limit:g} MiB"
                return failed_row(job, status="memory", reason=reason)
        row: Row
        row, needs_restart = self._connection.recv()
        if needs_restart:
            self._kill()
        return row

    def _memory(self) -> float:
        """Return the resident memory of the process in MiB; 0 if there is no limit to check."""
        if self._setting.memory_limit is None or self.pid is None:
            return 0.0
        return process_memory(self.pid) or 0.0

    def _crashed(self, job: Job) -> Row:
        """Return a row with the exit status and the last line of the process's stderr."""
        self._check_open()
        how = "did not answer"
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):  # it hung before it answered
                code = self._process.wait(timeout=EXIT_SECONDS)
                how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        self._kill()
        last = f": {lines[-1]}" if lines else ""
        return failed_row(job, status="failed", reason=f"the process {how}{last}")

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):  # its process group includes its children
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._connection.close()
        self._log.close()


def serve(connection: Any) -> None:
    """Answer every job with its row until the parent closes the connection (child process)."""
    setting: Setting = connection.recv()
    _warm_up(setting)
    connection.send("ready")
    last: tuple[SeriesRef, LoadedSeries] | None = None
    while True:
        try:
            job, series = connection.recv()
        except EOFError:
            return
        if series is None:
            with suppress(Exception):  # execute raises it again and makes a row of it
                if last is None or last[0] != job.series:  # jobs come series by series
                    last = (job.series, load(job.series))
                series = last[1]
        row = execute(job, setting, series=series)
        connection.send((row, _needs_restart(row)))
        _free_memory()


def _warm_up(setting: Setting) -> None:
    """Load what every neural detector needs, so that no job is charged its time or memory."""
    if not is_installed("torch"):
        return
    import torch

    from axonad.torch_runtime.device import resolve_device

    device = resolve_device(setting.device or "auto")
    weight = torch.zeros(2, 2, 3, device=device, requires_grad=True)
    optimiser = torch.optim.AdamW([weight])
    rows = torch.conv1d(torch.zeros(2, 2, 8, device=device), weight)
    (rows @ rows.mT).sum().backward()  # type: ignore[no-untyped-call]
    optimiser.step()


def _needs_restart(row: Row) -> bool:
    """Whether a failure may have left the CUDA context unusable for the next job."""
    torch = sys.modules.get("torch")
    return not row.is_ok and torch is not None and bool(torch.cuda.is_initialized())


def _free_memory() -> None:
    """Release what the last job held, so that it does not count as the next job's memory."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    trim_heap()


if __name__ == "__main__":
    exit_with_parent()
    serve(Connection(int(sys.argv[1])))
