"""What every experiment of the paper shares: its suite is run, its rows are shown and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from axonad.bench.results import read_rows
from axonad.bench.row import Row
from axonad.bench.suite import read_suite
from axonad.cli.bench.options import choose, seed_numbers, words
from axonad.cli.bench.run import run_suite
from axonad.cli.paper.publish import check_folder, publish
from axonad.cli.paper.small import shrink
from axonad.errors import InputError
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


class OwnExperiment(Protocol):
    """An experiment that is no suite of the bench: it brings its command along."""

    @property
    def name(self) -> str:
        """The command's name."""
        ...

    @property
    def summary(self) -> str:
        """What the command is for."""
        ...

    def run(self, choice: Choice) -> None:
        """Run what is left of it, or nothing to ``show``; print and write what there is."""
        ...

    @property
    def command(self) -> Callable[..., None]:
        """The function that runs it from the command line."""
        ...


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A suite, the table its rows make, and the tables and figures they give by name.

    ``table`` is printed; what of ``more`` and ``figures`` the rows cannot give is said, with the
    reason. ``split`` is the list of series it is about, ``workers`` the jobs at a time unless the
    user says, ``few`` the detectors of its miniature; one that is ``generated`` takes no data.
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
    generated: bool = False

    def run(self, choice: Choice) -> None:
        """Run what is left of it, or nothing to ``show``; print and write what the rows give."""
        check_folder(choice.write)
        if choice.show:
            folder = choice.target or Path("results") / (self.suite + "-small" * choice.small)
            rows = choose(
                self._own(read_rows(folder), folder), detectors=choice.detectors,
                series=choice.series, seeds=choice.seeds, protocol=choice.protocol,
            )  # fmt: skip
            beside = folder.parent if folder.is_file() else folder
            self.show(self._about(rows, folder), choice.write or beside)
            return
        if choice.small and choice.data is not None:
            raise InputError("--small makes its own series; leave out --data")
        made_up = Path() if choice.small and not self.generated else None  # never looked into
        suite = read_suite(self.suite, data=choice.data or made_up)
        suite = shrink(suite, few=() if choice.detectors else self.few) if choice.small else suite
        jobs = suite.jobs(
            detectors=words(choice.detectors, known={e.title for e in suite.detectors}),
            series=words(choice.series), seeds=seed_numbers(choice.seeds),
            protocols=words([choice.protocol or ""]), split=None if choice.small else self.split,
        )  # fmt: skip
        folder = choice.target or Path("results") / suite.name
        options = dict(choice.options)
        if not choice.small:  # whose times say nothing
            options["workers"] = options.get("workers") or self.workers
        self.show(run_suite(suite, jobs, folder, **options), choice.write or folder)

    def _own(self, rows: list[Row], folder: Path) -> list[Row]:
        """Refuse rows of another suite, and those that are failures all."""
        others = sorted({row.suite for row in rows} - {self.suite, f"{self.suite}-small"})
        if others:
            raise InputError(
                f"{folder} has rows of suite {others[0]}; {self.name} shows those of {self.suite}"
            )
        if rows and not any(row.is_ok for row in rows):
            raise InputError(f"all {len(rows)} rows in {folder} are failures: {rows[0].reason}")
        return rows

    def _about(self, rows: list[Row], folder: Path) -> list[Row]:
        """Return the rows of the series this is about; a generated one is on no list."""
        kept = [row for row in rows if self.split is None or row.split in ("", self.split)]
        if not kept:
            raise InputError(f"{folder} has no rows of split {self.split}")
        return kept

    def show(self, rows: list[Row], folder: Path) -> None:
        """Print the table and write everything rows give, over what an earlier run wrote."""
        tables = {self.name: self.table, **self.more}
        publish(
            folder,
            tables={name: partial(make, rows) for name, make in tables.items()},
            figures={name: _later(draw, rows) for name, draw in self.figures.items()},
        )


def _later(draw: Callable[[Path, list[Row]], None], rows: list[Row]) -> Callable[[Path], None]:
    return lambda path: draw(path, rows)
