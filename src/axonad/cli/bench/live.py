"""The live view of a run: done, failed, remaining, means so far, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from axonad.bench.row import Row

METRIC = "VUS-PR"
SHOWN = 12  # detectors in the view; the rest stays in the table


class LiveView:
    """Shows a run on a terminal as it goes; in a pipe, one plain line per row, on stderr."""

    def __init__(self, *, total: int, before: Sequence[Row] = ()) -> None:
        self._total, self._before = total, len(before)
        self._done = self._failed = 0
        self._sums: dict[str, tuple[float, int, int]] = {}
        for row in before:
            self._count(row)
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        if self._before:
            self._console.print(f"{self._before} jobs were done before; {self._total} to do")
        if self._total and sys.stderr.isatty():
            self._live = Live(
                get_renderable=self._view, console=self._console, refresh_per_second=4
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, row: Row) -> None:
        """Count a finished row and show where the run stands."""
        self._latest = time.monotonic()
        self._done += 1
        self._failed += not row.is_ok
        self._count(row)
        if self._live is None:
            self._console.print(self._line(row), markup=False)

    def _count(self, row: Row) -> None:
        name = f"{row.label} ({row.protocol})"
        total, count, failed = self._sums.get(name, (0.0, 0, 0))
        if row.is_ok:
            self._sums[name] = (total + row.metrics[METRIC], count + 1, failed)
        else:
            self._sums[name] = (total, count, failed + 1)

    def time_left(self) -> float | None:
        """Return the seconds the rest will take at the pace so far; None before the first row."""
        if not self._done:
            return None
        rest = (self._latest - self._started) / self._done * (self._total - self._done)
        return max(0.0, rest - (time.monotonic() - self._latest))

    def _line(self, row: Row) -> str:
        outcome = (
            f"{METRIC} {row.metrics[METRIC]:.3f}" if row.is_ok else f"{row.status}: {row.reason}"
        )
        return (
            f"{self._done}/{self._total}  {row.series}  {row.label} ({row.protocol}), "
            f"seed {row.seed}: {outcome}  [{self._counts()}]"
        )

    def _counts(self) -> str:
        left = self.time_left()
        ending = "" if left is None else f", about {_duration(left)} left"
        return f"{self._failed} failed, {self._total - self._done} remaining{ending}"

    def _view(self) -> Group:
        table = Table(box=None, pad_edge=False)
        for heading in ("detector", "rows", "failed", f"mean {METRIC}"):
            table.add_column(heading, justify="left" if heading == "detector" else "right")
        best = sorted(self._sums.items(), key=lambda item: -item[1][0] / max(1, item[1][1]))
        for name, (total, count, failed) in best[:SHOWN]:
            mean = f"{total / count:.3f}" if count else "–"
            table.add_row(name, str(count), str(failed) if failed else "", mean)
        last = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=max(1, self._total), completed=self._done, width=40)
        last.add_row(bar, Text(f"{self._done} of {self._total} done, {self._counts()}"))
        return Group(table, last)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
