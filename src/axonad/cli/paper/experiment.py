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
from axonad.errors import InputError
from axonad.report.table import Table


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What of an experiment to run and where to; ``options`` are those of ``run_suite``."""

    target: Path | None = None
    data: Path | None = None
    detectors: list[str] | None = None
    series: list[str] | None = None
    seeds: list[str] | None = None
    small: bool = False
    show: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A suite, the table its rows make, and the figures they give by name."""

    suite: str
    name: str
    summary: str
    table: Callable[[list[Row]], Table]
    figures: dict[str, Callable[[Path, list[Row]], None]] = field(default_factory=dict)

    def run(self, choice: Choice) -> None:
        """Run what is left of it, or nothing to ``show``; print and write what the rows give."""
        if choice.show:
            folder = choice.target or Path("results") / self.suite
            self.show(choose(read_rows(folder), detectors=choice.detectors), folder)
            return
        if choice.small and choice.data is not None:
            raise InputError("--small makes its own series; leave out --data")
        made_up = Path() if choice.small else None  # never looked into
        suite = read_suite(self.suite, data=choice.data or made_up)
        suite = shrink(suite) if choice.small else suite
        jobs = suite.jobs(
            detectors=words(choice.detectors, known={e.title for e in suite.detectors}),
            series=words(choice.series), seeds=seed_numbers(choice.seeds),
        )  # fmt: skip
        folder = choice.target or Path("results") / suite.name
        self.show(run_suite(suite, jobs, folder, **choice.options), folder)

    def show(self, rows: list[Row], folder: Path) -> None:
        """Print the table and write everything rows give, over what an earlier run wrote."""
        console = out()
        table = self.table(rows)
        console.print(render(table, "text"), markup=False)
        write_tables(folder, {self.name: table}, force=True)
        for figure, draw in self.figures.items():
            for ending in (".png", ".svg"):
                draw(folder / f"{figure}{ending}", rows)
        drawn = f" and {len(self.figures)} figure (.png, .svg)" if self.figures else ""
        console.print(f"wrote {self.name} (.md, .tex, .csv){drawn} to {folder}", markup=False)
