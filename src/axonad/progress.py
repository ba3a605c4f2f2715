"""Progress bars on stderr, shown only if it is a terminal and they are not hidden; a stopwatch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic, perf_counter
from typing import Self

EVERY = 10.0  # seconds between two lines about one piece of work

_HIDDEN = ContextVar("progress hidden", default=False)
_LINES = ContextVar("progress in lines", default=False)
_ACTIVE = ContextVar("progress on the terminal", default=False)


@contextmanager
def hidden(yes: bool = True) -> Iterator[None]:
    """Show no progress inside the block."""
    token = _HIDDEN.set(yes)
    try:
        yield
    finally:
        _HIDDEN.reset(token)


def hide(yes: bool) -> None:
    """Show no progress from now on, up to the end of the block of :func:`hidden`, if any."""
    _HIDDEN.set(yes)


@contextmanager
def lines() -> Iterator[None]:
    """Say progress in lines inside the block where stderr is no terminal, instead of not at all."""
    token = _LINES.set(True)
    try:
        yield
    finally:
        _LINES.reset(token)


def is_shown() -> bool:
    """Whether progress is shown."""
    return not _HIDDEN.get() and _is_terminal()


class Progress:
    """A progress bar, used as a context manager; hidden in a pipe or with ``show=False``.

    Inside of :func:`lines` it is a line at the beginning and one every ``EVERY`` seconds where
    stderr is no terminal. Inside of another one nothing is shown on a terminal.
    """

    def __init__(self, text: str, total: int, *, show: bool = True) -> None:
        self._text, self._total, self._show = text, total, show and is_shown()
        self._lines = show and _says_lines()
        self._done = 0

    def __enter__(self) -> Self:
        self._outer = _ACTIVE.set(True) if self._show and not _ACTIVE.get() else None
        self._show = self._outer is not None
        if self._show:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeRemainingColumn(elapsed_when_finished=True),
                TextColumn("{task.fields[note]}"),
                console=Console(stderr=True),
                refresh_per_second=4,
            )
            self._task = self._bar.add_task(self._text, total=self._total, note="")
            self._bar.start()
        if self._lines:
            _say(self._text)
        self._said = monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        if self._outer is not None:
            self._bar.stop()
            _ACTIVE.reset(self._outer)

    def advance(self, count: int = 1) -> None:
        """Add ``count`` to the finished work."""
        if self._show:
            self._bar.advance(self._task, count)
        self._done += count
        if self._lines and monotonic() - self._said > EVERY:
            self._said = monotonic()
            _say(f"{self._text}: {100 * self._done // max(1, self._total)} %")

    def describe(self, note: str) -> None:
        """Show a short note next to the bar."""
        if self._show:
            self._bar.update(self._task, note=note)

    def finish(self) -> None:
        """Fill the bar, for work that ended early."""
        if self._show:
            self._bar.update(self._task, completed=self._total)


@contextmanager
def working(text: str, *, show: bool = True) -> Iterator[None]:
    """Show ``text`` with a spinner while the block runs; as a line inside of :func:`lines`."""
    if show and _says_lines():
        _say(text)
    if not (show and is_shown()) or _ACTIVE.get():
        yield
        return
    from rich.console import Console

    outer = _ACTIVE.set(True)
    try:
        with Console(stderr=True).status(text):
            yield
    finally:
        _ACTIVE.reset(outer)


class Stopwatch:
    """Seconds that the parts of some work took, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str, *, text: str = "", show: bool = True) -> Iterator[None]:
        """Add the time of the block to a part, and show ``text`` meanwhile."""
        begin = perf_counter()
        try:
            with working(text, show=show and bool(text)):
                yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - begin

    @contextmanager
    def whole(self, name: str) -> Iterator[None]:
        """Add what the block took beyond the parts it has added itself."""
        before, begin = sum(self.seconds.values()), perf_counter()
        try:
            yield
        finally:
            own = perf_counter() - begin - (sum(self.seconds.values()) - before)
            self.seconds[name] = self.seconds.get(name, 0.0) + own


def _says_lines() -> bool:
    return _LINES.get() and not _HIDDEN.get() and sys.stderr is not None and not _is_terminal()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
