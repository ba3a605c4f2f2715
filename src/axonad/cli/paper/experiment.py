"""An experiment of the paper: run a suite, make tables and figures of its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from axonad.bench.results import read_rows
from axonad.bench.row import Row
from axonad.bench.suite import read_suite
from axonad.cli.bench import options
from axonad.cli.bench.options import parse_seeds, split_names
from axonad.cli.bench.row_selection import select_rows
from axonad.cli.bench.run import run_suite
from axonad.cli.paper.options import Show, Small, Write
from axonad.cli.paper.results import check_results_folder, write_results
from axonad.cli.paper.small_suite import shrink_suite
from axonad.errors import InputError
from axonad.report.table import Table


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A suite of the paper with the tables and figures made of its rows.

    Parameters
    ----------
    suite, name, summary
        Name of the suite, name of the command, help text of the command.
    table
        Makes the table that is printed and written under the command's name.
    more_tables, figures
        Functions that make further tables (of ``rows``) and figures (of ``path, rows=``), by file
        name. One that these rows do not allow is reported, with the reason.
    split
        The series the experiment is about: those of this split, or all.
    workers
        Number of parallel jobs, unless the user sets it.
    small_detectors
        Detectors of the ``--small`` run, by default all.
    needs_data
        False if the suite generates its series.
    """

    suite: str
    name: str
    summary: str
    table: Callable[[list[Row]], Table]
    more_tables: dict[str, Callable[[list[Row]], Table]] = field(default_factory=dict)
    figures: dict[str, Callable[..., None]] = field(default_factory=dict)
    split: str | None = None
    workers: int | None = None
    small_detectors: tuple[str, ...] = ()
    needs_data: bool = True

    def run(
        self,
        target: options.Out = None,
        data: options.Data = None,
        detectors: options.Detectors = None,
        series: options.SeriesParts = None,
        seeds: options.Seeds = None,
        protocol: options.ProtocolName = None,
        write: Write = None,
        engine: options.Engine = "local",
        address: options.Address = None,
        workers: options.Workers = None,
        device: options.Device = None,
        time_limit: options.TimeLimit = None,
        memory_limit: options.MemoryLimit = None,
        keep_scores: options.KeepScores = False,
        retry_failed: options.RetryFailed = False,
        small: Small = False,
        show: Show = False,
    ) -> None:
        """Run the remaining jobs, unless ``show``; then print and write tables and figures."""
        check_results_folder(write)
        if show:
            folder = target or Path("results") / (self.suite + "-small" * small)
            rows = select_rows(
                self._read(folder), detectors=detectors, series=series, seeds=seeds,
                protocol=protocol,
            )  # fmt: skip
            self._write(rows, write or (folder.parent if folder.is_file() else folder))
            return
        if small and data is not None:
            raise InputError("--small generates its series; leave out --data")
        # A small run replaces the suite's data, so any path is accepted.
        suite = read_suite(self.suite, data=Path() if small and self.needs_data else data)
        if small:
            suite = shrink_suite(suite, detectors=() if detectors else self.small_detectors)
        else:
            workers = workers or self.workers
        jobs = suite.jobs(
            detectors=split_names(detectors, known={e.title for e in suite.detectors}),
            series=split_names(series), seeds=parse_seeds(seeds),
            protocols=split_names([protocol or ""]), split=None if small else self.split,
        )  # fmt: skip
        folder = target or Path("results") / suite.name
        rows = run_suite(
            suite, jobs, folder, engine=engine, address=address, workers=workers, device=device,
            time_limit=time_limit, memory_limit=memory_limit, keep_scores=keep_scores,
            retry_failed=retry_failed,
        )  # fmt: skip
        self._write(rows, write or folder)

    def _read(self, folder: Path) -> list[Row]:
        """Return the rows of the experiment's split; raise for another suite's rows."""
        rows = read_rows(folder)
        others = sorted({row.suite for row in rows} - {self.suite, f"{self.suite}-small"})
        if others:
            raise InputError(
                f"{folder} has rows of suite {others[0]}; {self.name} shows those of {self.suite}"
            )
        if rows and not any(row.is_ok for row in rows):
            raise InputError(f"all {len(rows)} rows in {folder} are failures: {rows[0].reason}")
        # The generated series of a small run have no split.
        kept = [row for row in rows if self.split is None or row.split in ("", self.split)]
        if rows and not kept:
            raise InputError(f"{folder} has no rows of split {self.split}")
        return kept

    def _write(self, rows: list[Row], folder: Path) -> None:
        tables = {self.name: self.table, **self.more_tables}
        write_results(
            folder,
            tables={name: partial(make, rows) for name, make in tables.items()},
            figures={name: partial(draw, rows=rows) for name, draw in self.figures.items()},
        )
