"""A worker: a process of its own that runs jobs, watched from outside.

A job that hangs, eats the memory or crashes the interpreter takes its worker down and nothing
else; what comes back is a row that says so. The process is started afresh for the next job. It is
an ordinary subprocess (``python -m axonad.bench.worker``), so a caller's script needs no guard
and a Ray actor can have one.
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

from axonad.bench.execute import Setting, execute
from axonad.bench.job import Job
from axonad.bench.judge import failure
from axonad.bench.machine import give_back_memory, process_memory, thread_environment
from axonad.bench.row import Row
from axonad.bench.sources import SeriesRef, Subject, load
from axonad.errors import AxonADError, MissingDependencyError

POLL = 0.05  # seconds between two looks at a running job
START_LIMIT = 300.0  # seconds a process may take to import what it needs
PATIENCE = 10.0  # seconds for a process that broke off to be gone


class StoppedError(AxonADError):
    """The worker was closed while a job was running."""


class Worker:
    """Runs jobs one after another in a process of its own, within the setting's limits."""

    def __init__(self, setting: Setting, *, threads: int = 1) -> None:
        if setting.memory_limit is not None and process_memory() is None:
            raise MissingDependencyError(
                "a memory limit needs the package psutil; install it with: pip install psutil"
            )
        self._setting = setting
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = threading.Event()

    def run(self, job: Job, subject: Subject | None = None) -> Row:
        """Return the job's row, whatever happens to the process."""
        try:
            if self._process is None or self._process.poll() is not None:
                self._start()
            self._connection.send((job, subject))
            return self._wait(job)
        except StoppedError:
            self._kill()
            raise
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return self._crashed(job)
        except OSError as error:
            self._kill()
            return failure(job, status="failed", reason=f"no worker could be started: {error}")

    def close(self) -> None:
        """End the process, also in the middle of a job."""
        self._closed.set()
        self._kill()

    def _start(self) -> None:
        if self._closed.is_set():
            raise StoppedError("the worker is closed")
        ours, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "axonad.bench.worker", str(theirs.fileno())],
            env={**os.environ, **thread_environment(self._threads)},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            start_new_session=True,  # an interrupt at the terminal is the parent's to handle
        )
        theirs.close()
        self._connection = Connection(ours.detach())
        self._connection.send(self._setting)
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_LIMIT
        while not self._connection.poll(POLL):
            if self._closed.is_set():
                raise StoppedError("the worker was closed")
            if time.monotonic() > deadline:
                raise BrokenPipeError
        self._connection.recv()
        self._base = self._memory()

    def _wait(self, job: Job) -> Row:
        limits, started = self._setting, time.monotonic()
        while not self._connection.poll(POLL):
            if self._closed.is_set():
                raise StoppedError("the worker was closed")
            seconds = time.monotonic() - started
            if limits.time_limit is not None and seconds > limits.time_limit:
                self._kill()
                reason = f"took longer than the limit of {limits.time_limit:g} s"
                return failure(job, status="timeout", reason=reason)
            if limits.memory_limit is not None and self._rise() > limits.memory_limit:
                reason = f"took more memory than the limit of {limits.memory_limit:g} MiB"
                self._kill()
                return failure(job, status="memory", reason=reason)
        row: Row
        row, spoiled = self._connection.recv()
        if spoiled:
            self._kill()
        return row

    def _rise(self) -> float:
        """Return how much more memory the process holds than before its first job, in MiB."""
        return self._memory() - self._base

    def _memory(self) -> float:
        process = self._process
        return 0.0 if process is None else process_memory(process.pid) or 0.0

    def _crashed(self, job: Job) -> Row:
        if self._closed.is_set():
            raise StoppedError("the worker was closed")
        how = "did not answer"
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):  # one that never came up is still there
                code = self._process.wait(timeout=PATIENCE)
                how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        self._kill()
        last = f": {said[-1]}" if said else ""
        return failure(job, status="failed", reason=f"the process {how}{last}")

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):  # it leads a group of its own: its children go too
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._connection.close()
        self._log.close()


def serve(connection: Any) -> None:
    """Answer every job that comes with its row, until the other side is gone."""
    setting: Setting = connection.recv()
    _warm_up(setting)
    connection.send("ready")
    known: tuple[SeriesRef, Subject] | None = None
    while True:
        try:
            job, subject = connection.recv()
        except EOFError:
            return
        if subject is None:
            try:  # one series is kept: jobs come series by series
                if known is None or known[0] != job.series:
                    known = (job.series, load(job.series))
                subject = known[1]
            except Exception:  # execute meets it again and makes a row of it
                subject = None
        row = execute(job, setting, subject=subject)
        connection.send((row, _spoiled(row)))
        _tidy()


def _warm_up(setting: Setting) -> None:
    """Load what every neural detector loads, so that no job pays for it in time or memory."""
    import torch

    from axonad.torch_runtime.device import resolve_device

    device = resolve_device(setting.device or "auto")
    weight = torch.zeros(2, 2, 3, device=device, requires_grad=True)
    optimiser = torch.optim.AdamW([weight])
    rows = torch.conv1d(torch.zeros(2, 2, 8, device=device), weight)
    (rows @ rows.mT).sum().backward()  # type: ignore[no-untyped-call]
    optimiser.step()


def _spoiled(row: Row) -> bool:
    """Return whether a failure may have left a card's state broken for the next job."""
    torch = sys.modules.get("torch")
    return not row.is_ok and torch is not None and bool(torch.cuda.is_initialized())


def _tidy() -> None:
    """Give back what the last job held, so that the next one's memory is its own."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    give_back_memory()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, even in the middle of a job."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    _end_with_parent()
    serve(Connection(int(sys.argv[1])))
