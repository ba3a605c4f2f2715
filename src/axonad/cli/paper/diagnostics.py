"""``axonad paper diagnostics``: what happens inside, series by series, resumed where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench import sources
from axonad.bench.job import Job
from axonad.bench.row import latest
from axonad.bench.runner import check_settings, pending
from axonad.bench.suite import Suite, read_suite
from axonad.cli.bench.live import LiveView
from axonad.cli.bench.options import (
    Data,
    Device,
    Out,
    ProtocolName,
    RetryFailed,
    Seeds,
    SeriesParts,
    choose,
    seed_numbers,
    words,
)
from axonad.cli.paper.command import Show, Small, Write
from axonad.cli.paper.experiment import Choice
from axonad.cli.paper.publish import check_folder, publish
from axonad.cli.paper.small import shrink
from axonad.cli.terminal import out
from axonad.errors import InputError
from axonad.paper.diagnostics.finding import Finding, Findings, read_findings
from axonad.paper.figures.diagnostics import draw_parts, draw_queries, draw_rules
from axonad.paper.tables.diagnostics import diagnostics_table, rules_table, series_table

SUITE = "paper-diagnostics"
PROTOCOL = "parity"
REPORTED = "eval"  # what is looked at of another suite that has lists of series
STEPS = 4000  # of the miniature's drives: room for an event with a before

On = Annotated[str, typer.Option(help="Suite whose series are looked at: telemetry, tsb-ad-m, ...")]


class Diagnostics:
    """Fits AxonAD on every series of a suite and looks at what it does there."""

    name = "diagnostics"
    summary = "Look inside AxonAD on every series, and show the paper's numbers beside ours."

    def run(self, choice: Choice) -> None:
        """Look at what is left, or at nothing to ``show``; print and write what there is."""
        protocol = choice.protocol or PROTOCOL
        on = str(choice.options.get("on") or SUITE)
        check_folder(choice.write)
        if choice.show:
            folder = choice.target or Path("results") / (_title(on) + "-small" * choice.small)
            found = read_findings(folder)
            kept = choose(
                [f.row for f in found], series=choice.series, seeds=choice.seeds, protocol=protocol
            )
            keys = {row.key for row in kept}
            found = [f for f in found if f.key in keys]
            self.show(found, folder, choice.write or folder)
            return
        suite = _choose_suite(on, choice)
        folder = choice.target or Path("results") / suite.name
        jobs = suite.jobs(
            series=words(choice.series), seeds=seed_numbers(choice.seeds), protocols=[protocol]
        )
        device = choice.options.get("device")
        retry = bool(choice.options.get("retry_failed"))
        self.show(_look(jobs, folder, device=device, retry=retry), folder, choice.write or folder)

    def show(self, found: list[Finding], folder: Path, target: Path) -> None:
        """Print the table and write tables and figures of findings kept in a folder."""
        from axonad.paper.diagnostics.sample import samples_of

        kept = samples_of(folder, found)
        publish(
            target,
            tables={
                self.name: lambda: diagnostics_table(found),
                "rules": lambda: rules_table(found),
                "series": lambda: series_table(found),
            },
            figures={
                "parts": lambda path: draw_parts(path, samples=kept),
                "queries": lambda path: draw_queries(path, samples=kept, findings=found),
                "rules": lambda path: draw_rules(path, findings=found),
            },
        )

    @property
    def command(self) -> Callable[..., None]:
        """The function that runs it from the command line."""

        def command(
            target: Out = None,
            data: Data = None,
            on: On = SUITE,
            series: SeriesParts = None,
            seeds: Seeds = None,
            protocol: ProtocolName = None,
            write: Write = None,
            device: Device = None,
            retry_failed: RetryFailed = False,
            small: Small = False,
            show: Show = False,
        ) -> None:
            options = {"device": device, "retry_failed": retry_failed, "on": on}
            self.run(
                Choice(
                    target=target, data=data, series=series, seeds=seeds, protocol=protocol,
                    write=write, small=small, show=show, options=options,
                )
            )  # fmt: skip

        return command


DIAGNOSTICS = Diagnostics()


def _title(on: str) -> str:
    return SUITE if on == SUITE else f"{SUITE}-{on}"


def _choose_suite(on: str, choice: Choice) -> Suite:
    """Return the suite of the diagnostics, on the series of another where one is named."""
    if choice.small and (choice.data is not None or on != SUITE):
        raise InputError("--small makes its own series; leave out --data and --on")
    if choice.small:
        small = shrink(read_suite(SUITE, data=Path()))
        return replace(small, data={"source": "telemetry", "steps": STEPS})
    if on == SUITE:
        return read_suite(SUITE, data=choice.data)
    own, other = read_suite(SUITE, data=Path()), read_suite(on, data=choice.data)
    listed = any(ref.split == REPORTED for ref in sources.find(other.data, seeds=other.seeds))
    data = {**other.data, "split": REPORTED} if listed else other.data
    return replace(
        own, name=_title(other.name), data=data, protocols=other.protocols, seeds=other.seeds
    )


def _look(jobs: list[Job], folder: Path, *, device: str | None, retry: bool) -> list[Finding]:
    """Look into what has no finding yet, one line of progress each; return all of the jobs."""
    from axonad.paper.diagnostics.diagnose import diagnose_jobs
    from axonad.torch_runtime.device import resolve_device

    resolve_device(device or "auto")  # a mistake here would fail every job
    with Findings(folder) as findings:
        rows = latest(finding.row for finding in findings.rows)
        check_settings(jobs, rows)
        todo = pending(jobs, rows, retry_failed=retry)
        keys = {job.key for job in jobs}
        settled = keys - {job.key for job in todo}
        view = LiveView(total=len(todo), before=[row for row in rows if row.key in settled])
        try:
            with view, closing(diagnose_jobs(todo, findings, device=device)) as made:
                for finding in made:
                    view.show(finding.row)
        except KeyboardInterrupt:
            out().print("what is done stays; the same command goes on where it stopped")
            raise
        last = {finding.key: finding for finding in findings.rows}
    return [finding for key, finding in last.items() if key in keys]
