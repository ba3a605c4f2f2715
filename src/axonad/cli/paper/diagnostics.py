"""``axonad paper diagnostics``: measure attention queries and score parts on every series."""

from __future__ import annotations

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
from axonad.cli.bench import options
from axonad.cli.bench.options import parse_seeds, split_names
from axonad.cli.bench.progress_display import follow
from axonad.cli.bench.row_selection import select_rows
from axonad.cli.paper.options import Show, Small, Write
from axonad.cli.paper.results import check_results_folder, write_results
from axonad.cli.paper.small_suite import shrink_suite
from axonad.errors import InputError
from axonad.paper.diagnostics.finding import Finding, Findings, read_findings
from axonad.paper.figures.diagnostics import draw_parts, draw_queries, draw_rules
from axonad.paper.tables.diagnostics import diagnostics_table, rules_table, series_table

SUITE = "paper-diagnostics"
PROTOCOL = "parity"
SPLIT = "eval"  # the series used of a suite given by --on, if it has splits
SMALL_STEPS = 4000  # enough for an event with normal steps before it

On = Annotated[
    str, typer.Option(help="Suite whose series are used: telemetry, tsb-ad-m or another.")
]


def run_diagnostics(
    target: options.Out = None,
    data: options.Data = None,
    on: On = SUITE,
    series: options.SeriesParts = None,
    seeds: options.Seeds = None,
    protocol: options.ProtocolName = None,
    write: Write = None,
    device: options.Device = None,
    retry_failed: options.RetryFailed = False,
    small: Small = False,
    show: Show = False,
) -> None:
    """Measure AxonAD's attention queries and score components; compare with the paper."""
    protocol = protocol or PROTOCOL
    check_results_folder(write)
    if show:
        folder = target or Path("results") / (_suite_name(on) + "-small" * small)
        found = read_findings(folder)
        rows = select_rows([f.row for f in found], series=series, seeds=seeds, protocol=protocol)
        keys = {row.key for row in rows}
        found = [finding for finding in found if finding.key in keys]
    else:
        suite = _choose_suite(on, data=data, small=small)
        folder = target or Path("results") / suite.name
        jobs = suite.jobs(
            series=split_names(series), seeds=parse_seeds(seeds), protocols=[protocol]
        )
        found = _diagnose(jobs, folder, device=device, retry_failed=retry_failed)
    _write(found, folder, write or folder)


def _suite_name(on: str) -> str:
    return SUITE if on == SUITE else f"{SUITE}-{on}"


def _choose_suite(on: str, *, data: Path | None, small: bool) -> Suite:
    """Return the suite of the diagnostics, with the series of the suite ``on``."""
    if small and (data is not None or on != SUITE):
        raise InputError("--small generates its series; leave out --data and --on")
    if small:
        suite = shrink_suite(read_suite(SUITE, data=Path()))
        return replace(suite, data={"source": "telemetry", "steps": SMALL_STEPS})
    if on == SUITE:
        return read_suite(SUITE, data=data)
    own, other = read_suite(SUITE, data=Path()), read_suite(on, data=data)
    has_split = any(ref.split == SPLIT for ref in sources.find(other.data, seeds=other.seeds))
    return replace(
        own,
        name=_suite_name(other.name),
        data={**other.data, "split": SPLIT} if has_split else other.data,
        protocols=other.protocols,
        seeds=other.seeds,
    )


def _diagnose(
    jobs: list[Job], folder: Path, *, device: str | None, retry_failed: bool
) -> list[Finding]:
    """Run the jobs that have no finding yet; return the findings of all jobs."""
    from axonad.paper.diagnostics.diagnose import diagnose_jobs
    from axonad.torch_runtime.device import resolve_device

    resolve_device(device or "auto")  # an unknown device would fail every job
    with Findings(folder) as findings:
        rows = latest(finding.row for finding in findings.rows)
        check_settings(jobs, rows)
        todo = pending(jobs, rows, retry_failed=retry_failed)
        with closing(diagnose_jobs(todo, findings, device=device)) as made:
            follow((finding.row for finding in made), jobs=jobs, pending=todo, known=rows)
        last = {finding.key: finding for finding in findings.rows}
    keys = {job.key for job in jobs}
    return [finding for key, finding in last.items() if key in keys]


def _write(found: list[Finding], folder: Path, target: Path) -> None:
    """Write tables and figures of findings to ``target``; ``folder`` has the samples to plot."""
    from axonad.paper.diagnostics.sample import samples_of

    samples = samples_of(folder, found)
    write_results(
        target,
        tables={
            "diagnostics": lambda: diagnostics_table(found),
            "rules": lambda: rules_table(found),
            "series": lambda: series_table(found),
        },
        figures={
            "parts": lambda path: draw_parts(path, samples=samples),
            "queries": lambda path: draw_queries(path, samples=samples, findings=found),
            "rules": lambda path: draw_rules(path, findings=found),
        },
    )
