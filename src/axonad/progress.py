"""A progress bar on a terminal, silence in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self


class Progress:
    """Counts work done; draws a bar on stderr when it is a terminal and ``show`` is true.

    Use as a context manager. ``advance`` counts, ``describe`` changes the text beside the bar,
    ``finish`` fills the bar when the work ended early.
    """

    def __init__(self, text: str, total: int, *, show: bool = True) -> None:
        self._text = text
        self._total = total
        self._show = show and sys.stderr is not None and sys.stderr.isatty()

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._show:
            self._bar.stop()

    def advance(self, count: int = 1) -> None:
        """Count finished work."""
        if self._show:
            self._bar.advance(self._task, count)

    def describe(self, note: str) -> None:
        """Show a short note behind the bar."""
        if self._show:
            self._bar.update(self._task, note=note)

    def finish(self) -> None:
        """Fill the bar: the work is done, however much of it was needed."""
        if self._show:
            self._bar.update(self._task, completed=self._total)


@contextmanager
def working(text: str, *, show: bool = True) -> Iterator[None]:
    """Show a spinner beside ``text`` while work of unknown length goes on."""
    if not (show and sys.stderr is not None and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
