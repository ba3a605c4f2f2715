"""What every experiment of the paper shares: its suite is run, its rows are shown and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axonad.bench.results import read_rows
from axonad.bench.row import Row
from axonad.bench.suite import read_suite
from axonad.cli.bench.options import choose, render, seed_numbers, words, write_tables
from axonad.cli.bench.run import run_suite
from axonad.cli.paper.small import shrink
from axonad.cli.terminal import out
from axonad.errors import AxonADError, InputError
from axonad.report.table import Table


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What of an experiment to run and where to; ``options`` are those of ``run_suite``.

    ``target`` is the folder of the rows, ``write`` that of tables and figures: beside them, unless
    it is given.
    """

    target: Path | None = None
    data: Path | None = None
    detectors: list[str] | None = None
    series: list[str] | None = None
    seeds: list[str] | None = None
    protocol: str | None = None
    write: Path | None = None
    small: bool = False
    show: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A suite, the table its rows make, and the tables and figures they give by name.

    ``table`` is printed; what of ``more`` and ``figures`` the rows cannot give is said, with the
    reason. ``split`` is the list of series it is about, ``workers`` the jobs at a time unless the
    user says, ``few`` the detectors of its miniature.
    """

    suite: str
    name: str
    summary: str
    table: Callable[[list[Row]], Table]
    more: dict[str, Callable[[list[Row]], Table]] = field(default_factory=dict)
    figures: dict[str, Callable[[Path, list[Row]], None]] = field(default_factory=dict)
    split: str | None = None
    workers: int | None = None
    few: tuple[str, ...] = ()

    def run(self, choice: Choice) -> None:
        """Run what is left of it, or nothing to ``show``; print and write what the rows give."""
        if choice.show:
            folder = choice.target or Path("results") / self.suite
            rows = choose(read_rows(folder), detectors=choice.detectors, protocol=choice.protocol)
            self.show(self._about(rows, folder), choice.write or folder)
            return
        if choice.small and choice.data is not None:
            raise InputError("--small makes its own series; leave out --data")
        made_up = Path() if choice.small else None  # never looked into
        suite = read_suite(self.suite, data=choice.data or made_up)
        suite = shrink(suite, few=() if choice.detectors else self.few) if choice.small else suite
        jobs = suite.jobs(
            detectors=words(choice.detectors, known={e.title for e in suite.detectors}),
            series=words(choice.series), seeds=seed_numbers(choice.seeds),
            protocols=words([choice.protocol or ""]), split=None if choice.small else self.split,
        )  # fmt: skip
        folder = choice.target or Path("results") / suite.name
        options = dict(choice.options)
        options["workers"] = options.get("workers") or self.workers
        self.show(run_suite(suite, jobs, folder, **options), choice.write or folder)

    def _about(self, rows: list[Row], folder: Path) -> list[Row]:
        """Return the rows of the series this is about; a generated one is on no list."""
        kept = [row for row in rows if self.split is None or row.split in ("", self.split)]
        if not kept:
            raise InputError(f"{folder} has no rows of split {self.split}")
        return kept

    def show(self, rows: list[Row], folder: Path) -> None:
        """Print the table and write everything rows give, over what an earlier run wrote."""
        console = out()
        table = self.table(rows)
        console.print(render(table, "text"), markup=False)
        tables, missing = {self.name: table}, {}
        for name, make in self.more.items():
            try:
                tables[name] = make(rows)
            except AxonADError as error:
                missing[f"table {name}"] = error
        write_tables(folder, tables, force=True)
        drawn = []
        for name, draw in self.figures.items():
            try:
                for ending in (".png", ".svg"):
                    draw(folder / f"{name}{ending}", rows)
                drawn.append(name)
            except AxonADError as error:
                missing[f"figure {name}"] = error
        figures = f" and {', '.join(drawn)} (.png, .svg)" if drawn else ""
        console.print(
            f"wrote {', '.join(tables)} (.md, .tex, .csv){figures} to {folder}", markup=False
        )
        for name, reason in missing.items():
            console.print(f"  no {name}: {reason}", style="yellow", markup=False)
