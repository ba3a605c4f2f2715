"""Progress bars on stderr, shown only if it is a terminal and they are not hidden."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self

_HIDDEN = ContextVar("progress hidden", default=False)


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


def is_shown() -> bool:
    """Whether progress is shown."""
    return not _HIDDEN.get() and _is_terminal()


class Progress:
    """A progress bar, used as a context manager; hidden in a pipe or with ``show=False``."""

    def __init__(self, text: str, total: int, *, show: bool = True) -> None:
        self._text, self._total, self._show = text, total, show and is_shown()

    def __enter__(self) -> Self:
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
        return self

    def __exit__(self, *_: object) -> None:
        if self._show:
            self._bar.stop()

    def advance(self, count: int = 1) -> None:
        """Add ``count`` to the finished work."""
        if self._show:
            self._bar.advance(self._task, count)

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
    """Show ``text`` with a spinner while the block runs."""
    if not (show and is_shown()):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
