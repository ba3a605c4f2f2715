"""Ctrl-C and SIGTERM unwind the stack, so that temporary files are removed and states are saved.

Both raise an exception in the main thread. It can fail to get there: the system may hand the
signal to another thread while the main one waits for a lock, and some libraries swallow the
exception. A second thread therefore repeats the signal until the stack unwinds.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, Self

INTERRUPTED = 130  # the exit codes that shells expect after Ctrl-C and after `kill`
TERMINATED = 143
SOON, LATER = 0.1, 1.0  # seconds until the first and until each further repetition


class Signals:
    """A context manager that handles signals in its block; ``received`` lists them."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._before: dict[int, Any] = {}
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._is_repeated = False

    @property
    def exit_code(self) -> int:
        """The exit code after the signals received."""
        return TERMINATED if signal.SIGTERM in self.received else INTERRUPTED

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self  # no other thread may handle signals
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup sets it
                self._before[number] = signal.signal(number, self._handle)
        pipe, self._wakeup = os.pipe()
        os.set_blocking(self._wakeup, False)
        self._wakeup_before = signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, args=(pipe,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()
        if not self._before:
            return
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def finish(self) -> None:
        """Repeat no signal after this call."""
        with self._lock:
            self._done.set()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._is_repeated:
            self._is_repeated = False
            if isinstance(sys.exc_info()[1], KeyboardInterrupt | SystemExit):
                return  # the stack unwinds; what is being cleaned up must not be interrupted
        self.received.append(number)
        if number == signal.SIGTERM:
            sys.exit(TERMINATED)
        raise KeyboardInterrupt

    def _watch(self, pipe: int) -> None:
        """Repeat the first signal, whose number Python writes to the pipe (another thread)."""
        number = os.read(pipe, 1)
        pause = SOON
        while number and not self._done.wait(pause):
            with self._lock:
                if not self._done.is_set():
                    self._is_repeated = True
                    _send_to_main_thread(number[0])
            pause = LATER
        os.close(pipe)


def _send_to_main_thread(number: int) -> None:
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, number)  # also ends waiting for a lock or for input
    else:
        _thread.interrupt_main(signal.Signals(number))
