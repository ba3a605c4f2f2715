"""Samples from lines of JSON on standard input; reading pauses while the engine is full.

Lines that are read together become one delivery. There is nobody to acknowledge to: what was read
and not stored when the server dies is lost, so this is for tests, replays and small set-ups.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Event, Thread
from time import monotonic, time_ns

from axonad.errors import InputError
from axonad.live.engine.contract import Engine
from axonad.live.sources.contract import SourceStatus
from axonad.live.sources.handover import Handover
from axonad.live.sources.messages import parse
from axonad.live.sources.tally import Tally

CHUNK = 65_536  # bytes read at once
MAX_LINE = 8_000_000  # bytes
FINISH = 5.0  # seconds to wait for the last receipt
IDLE = 1.0


class LinesSource:
    """Reads lines from a file descriptor; ``on_end`` is called when the last one is stored."""

    name = "stdin"

    def __init__(self, descriptor: int = 0, *, on_end: Callable[[], None] | None = None) -> None:
        self._descriptor = descriptor
        self._on_end = on_end
        self._tally = Tally(self.name)
        self._handover: Handover[None] | None = None
        self._thread: Thread | None = None
        self._changed = Event()
        self._is_stopping = False
        self._rest = b""  # the beginning of a line
        self._is_skipping = False  # whether that line is too long

    def start(self, engine: Engine) -> None:
        """Begin to read in a thread of its own."""
        handover = self._handover = Handover(engine, self.name, wake=self._changed.set)
        self._thread = Thread(target=self._run, args=(handover,), name="axonad-stdin", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop reading and wait a little for what the engine has.

        A thread that waits for input cannot be called back; it ends with the process.
        """
        self._is_stopping = True
        self._changed.set()
        handover = self._handover
        if self._thread is not None and handover is not None:
            self._thread.join(FINISH if handover.is_waiting_for_receipt else 0.2)

    def status(self) -> SourceStatus:
        """Return how the source is."""
        return self._tally.status(self._handover)

    def _run(self, handover: Handover[None]) -> None:
        self._tally.note_connected("standard input")
        while not self._is_stopping:
            try:
                data = os.read(self._descriptor, CHUNK)
            except OSError as error:
                self._tally.note_trouble(f"standard input cannot be read: {error.strerror}")
                data = b""
            for line in self._cut(data):
                self._hand_over(handover, line)
            self._wait(handover, until_idle=not data)
            if not data:
                break
        self._tally.is_connected = False
        if not self._is_stopping and self._on_end is not None:
            self._on_end()

    def _cut(self, data: bytes) -> list[bytes]:
        """Return the whole lines so far; without data, the last one that has no end."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data:
            lines, self._rest = [self._rest], b""
        if self._is_skipping and lines:
            del lines[0]
            self._is_skipping = False
        if len(self._rest) > MAX_LINE or self._is_skipping:
            if not self._is_skipping:
                self._tally.messages += 1
                error = InputError(f"a line must have at most {MAX_LINE:,} bytes")
                self._tally.note_bad("standard input", error)
            self._rest, self._is_skipping = b"", True
        return lines

    def _hand_over(self, handover: Handover[None], line: bytes) -> None:
        if not line.strip():
            return
        self._tally.messages += 1
        try:
            handover.put(parse(line, arrival=time_ns() // 1_000), None)
        except InputError as error:
            self._tally.note_bad(f"line {self._tally.messages} of standard input", error)

    def _wait(self, handover: Handover[None], *, until_idle: bool) -> None:
        """Submit what was read; wait while the engine is full, or until everything is stored."""
        stopped = None
        while True:
            self._changed.clear()
            if self._is_stopping:
                stopped = stopped or monotonic()
                handover.take_stored()
                if not handover.is_waiting_for_receipt or monotonic() - stopped > FINISH:
                    return
            else:
                handover.advance()
                if handover.is_idle or (
                    not until_idle and handover.is_waiting_for_receipt and handover.has_room
                ):
                    return
            self._changed.wait(handover.pause(IDLE))
