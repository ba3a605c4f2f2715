"""Show the progress of a run: finished, failed and remaining jobs, mean scores, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from axonad.bench.job import Job
from axonad.bench.row import Row
from axonad.cli.terminal import plain_table, print_status
from axonad.cli.verbosity import is_quiet

METRIC = "VUS-PR"
SHOWN = 12  # detectors listed on the terminal, the best first


def follow(
    rows: Iterable[Row], *, jobs: Sequence[Job], pending: Sequence[Job], known: Iterable[Row]
) -> None:
    """Consume the rows of the ``pending`` jobs and display each; on Ctrl-C say how to resume.

    ``known`` rows of the other ``jobs`` count as finished before.
    """
    settled = {job.key for job in jobs} - {job.key for job in pending}
    before = [row for row in known if row.key in settled]
    display = ProgressDisplay(total=len(pending), before=before)
    try:
        if pending and sys.stderr.isatty() and not is_quiet():
            with Live(get_renderable=display.view, console=display.console, refresh_per_second=4):
                for row in rows:
                    display.count(row)
        else:
            for row in rows:
                display.count(row)
                display.console.print(display.line(row), markup=False)
    except KeyboardInterrupt:
        print_status("finished jobs are saved; run the same command again to resume")
        raise


class ProgressDisplay:
    """Counts the rows of a run; makes a table for a terminal and a line of text for a pipe."""

    def __init__(self, *, total: int, before: Sequence[Row] = ()) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True, quiet=is_quiet())
        self._total = total
        self._done = self._failed = 0
        self._values: dict[str, list[float | None]] = {}  # of METRIC by detector; None: failed
        self._started = self._latest = time.monotonic()
        for row in before:
            self._add(row)
        if before:
            self.console.print(f"{len(before)} jobs were done before; {total} to do")

    def count(self, row: Row) -> None:
        """Count a finished job."""
        self._latest = time.monotonic()
        self._done += 1
        self._failed += not row.is_ok
        self._add(row)

    def _add(self, row: Row) -> None:
        values = self._values.setdefault(f"{row.label} ({row.protocol})", [])
        values.append(row.metrics[METRIC] if row.is_ok else None)

    def line(self, row: Row) -> str:
        """Return the outcome of a job and where the run stands, as one line."""
        outcome = (
            f"{METRIC} {row.metrics[METRIC]:.3f}" if row.is_ok else f"{row.status}: {row.reason}"
        )
        return (
            f"{self._done}/{self._total}  {row.series}  {row.label} ({row.protocol}), "
            f"seed {row.seed}: {outcome}  [{self._counts()}]"
        )

    def view(self) -> Group:
        """Return mean scores by detector above a progress bar."""
        headings = ("rows", "failed", f"mean {METRIC}")
        table = plain_table("detector", *headings, numeric=headings)
        lines = []
        for name, values in self._values.items():
            known = [value for value in values if value is not None]
            lines.append((sum(known) / max(1, len(known)), name, len(known), values.count(None)))
        for mean, name, count, failed in sorted(lines, key=lambda line: -line[0])[:SHOWN]:
            shown = f"{mean:.3f}" if count else "–"
            table.add_row(name, str(count), str(failed) if failed else "", shown)
        last = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=max(1, self._total), completed=self._done, width=40)
        last.add_row(bar, Text(f"{self._done} of {self._total} done, {self._counts()}"))
        return Group(table, last)

    def _counts(self) -> str:
        remaining = self._total - self._done
        text = f"{self._failed} failed, {remaining} remaining"
        if not self._done:
            return text
        seconds = (self._latest - self._started) / self._done * remaining
        left = max(0.0, seconds - (time.monotonic() - self._latest))
        return f"{text}, about {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
