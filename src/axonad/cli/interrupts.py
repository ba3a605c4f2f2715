"""Ctrl-C and SIGTERM between two rows of a stream, never in the middle of one."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from axonad.cli.signals import TERMINATED

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Delays both signals while a row is scored, so that what is saved at the end is whole."""

    def __init__(self) -> None:
        self._busy = self._stopping = False
        self._asked: int | None = None

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def delayed(self) -> Iterator[None]:
        """Run the block to its end before a signal stops the program."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False
        if self._asked is not None:
            self._stop(self._asked)

    def _handle(self, number: int, _: Any) -> None:
        if self._busy:
            self._asked = number
        elif not self._stopping:  # a repeated signal must not interrupt the saving at the end
            self._stop(number)

    def _stop(self, number: int) -> None:
        self._stopping = True
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(TERMINATED)
