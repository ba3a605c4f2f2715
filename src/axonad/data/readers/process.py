"""The reader process as its parent sees it: started when needed, kept, ended on failure.

The libraries that parse files can crash, hang or abort on a damaged file, and their threads do not
survive a fork. So files are parsed in a child process (:mod:`axonad.data.readers.child`), an
ordinary subprocess that needs no ``if __name__ == "__main__"`` guard in the caller's script.
One idle process is kept per parent process; readings at the same time have a process each.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import Any

from axonad import errors
from axonad.data.readers import limits
from axonad.data.readers.request import Request, to_sentence
from axonad.data.readers.table import End, Piece
from axonad.data.readers.wire import Buffer, receive_header, receive_piece, send
from axonad.errors import AxonADError, FileError

START_SECONDS = 60.0  # time limit for a process to import its packages
EXIT_SECONDS = 5.0  # for a process to exit after it closed its connection
LARGE = 2**28  # bytes; after a larger file the process ends, which frees its memory
SOCKET_BUFFER = 2**22  # bytes
FLAGS = ("-P", "-W", "ignore")  # no modules from the working folder, no warnings
SIGNALS = {number.value: number.name for number in signal.Signals}
CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[3]); "
    "from axonad.data.readers.child import main; main(int(sys.argv[1]), int(sys.argv[2]))"
)


class ReaderProcess:
    """A child process that parses one file at a time."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.is_clean = False  # whether it waits for a message
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
        self.connection = ours
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        number, memory = theirs.fileno(), limits.process_memory()
        folders = json.dumps([folder for folder in sys.path if isinstance(folder, str)])
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603
                    [sys.executable, *FLAGS, "-c", CODE, str(number), str(memory), folders],
                    env=os.environ | {"RUST_BACKTRACE": "0"},  # its last words in one line
                    pass_fds=[number],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._log,
                    start_new_session=True,  # Ctrl-C in the terminal reaches the parent only
                )
        except BaseException:
            ours.close()
            self._log.close()
            raise
        try:
            receive_header(ours, time.monotonic() + START_SECONDS)
        except BaseException:
            self.close()
            raise
        self.is_clean = True

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether the process lives and is a child of this one."""
        return self.owner == os.getpid() and self._process.poll() is None

    def ask(
        self,
        request: Request,
        *,
        deadline: float,
        is_first: bool = False,
        data: bytes | None = None,
        buffer: Buffer | None = None,
    ) -> Piece | End:
        """Return the first or the next piece of a series; raise what the parser raised."""
        self.is_clean = False
        message = {"do": "open", "request": request.to_json()} if is_first else {"do": "next"}
        failed = f"{request.shown} cannot be read as {request.format}: the reader process"
        started = time.monotonic()
        try:
            self.connection.settimeout(max(0.001, deadline - started))
            send(self.connection, message, [] if data is None else [data])
            header = receive_header(self.connection, deadline)
            if header["is"] == "error":
                self.is_clean = not header["is_done"]
                raise _error(header)
            piece = receive_piece(self.connection, header, deadline, buffer)
        except TimeoutError:
            self.close()
            seconds = time.monotonic() - started
            raise FileError(f"{failed} was stopped after {seconds:.0f} s without an end") from None
        except (OSError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, AxonADError):
                raise
            raise FileError(f"{failed} died ({self._end()})") from None
        self.is_clean = True
        return piece

    def release(self) -> None:
        """Let the process close its file."""
        try:
            send(self.connection, {"do": "close"})
        except OSError:
            self.is_clean = False

    def close(self) -> None:
        """End the process."""
        self.is_clean = False
        self.connection.close()
        if self.owner != os.getpid():
            return
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        self._log.close()

    def _end(self) -> str:
        """Return how the process ended: the signal or exit code, and its last words."""
        how = "it did not answer"
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(timeout=EXIT_SECONDS)
            how = SIGNALS.get(-code, f"exit code {code}")
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 2000))
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        self.close()
        words = [line.strip() for line in lines if not line.startswith("note:")]
        return to_sentence(f"{how}: {words[-1]}" if words else how)


def _error(header: dict[str, Any]) -> AxonADError:
    """Return the error that a message describes."""
    cls = getattr(errors, header["class"], FileError)
    if not (isinstance(cls, type) and issubclass(cls, AxonADError)):
        cls = FileError
    return cls(header["text"])


# -- the processes of this process ---------------------------------------------------------------

_lock = threading.Lock()
_idle: list[ReaderProcess] = []
_all: set[ReaderProcess] = set()
_inherited: list[ReaderProcess] = []  # of a parent that forked this process
_can_start = os.name == "posix"


def borrow() -> ReaderProcess | None:
    """Return an idle reader process or a new one; None where none can be started."""
    global _can_start  # noqa: PLW0603
    with _lock:
        while _idle:
            reader = _idle.pop()
            if reader.is_usable:
                return reader
            _all.discard(reader)
            reader.close()
    if not _can_start or not sys.executable or getattr(sys, "frozen", False):
        return None
    try:
        reader = ReaderProcess()
    except (OSError, ValueError):  # no process, or one that is not Python
        _can_start = False
        return None
    _all.add(reader)
    return reader


def give_back(reader: ReaderProcess, request: Request) -> None:
    """Keep a process for the next reading, or end it if it failed or holds much memory."""
    if reader.is_clean:
        reader.release()
    with _lock:
        if reader.is_clean and not _idle and request.size < LARGE:
            _idle.append(reader)
            return
        _all.discard(reader)
    reader.close()


def close_all() -> None:
    """End the reader processes of this process."""
    with _lock:
        _idle.clear()
        while _all:
            _all.pop().close()


def _after_fork() -> None:
    """Forget the parent's processes in a forked child; it starts its own."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()
    for reader in _all:
        reader.connection.close()  # else they would not notice that the parent has closed it
    _inherited.extend(_all)
    _all.clear()
    _idle.clear()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
