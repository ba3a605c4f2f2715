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
from axonad.extras import need
from axonad.paper.diagnostics.finding import AsRunFindings, Finding, Findings, read_findings
from axonad.paper.figures.diagnostics import draw_parts, draw_queries, draw_rules
from axonad.paper.figures.probe import draw_probe
from axonad.paper.tables.as_run import as_run_table, probe_table
from axonad.paper.tables.diagnostics import diagnostics_table, rules_table, series_table

SUITE = "paper-diagnostics"
AS_RUN = "paper-diagnostics-as-run"
PROTOCOL = "parity"
NEEDS = "the paper's diagnostics need"
SPLIT = "eval"  # the series used of a suite given by --on, if it has splits
SMALL_STEPS = 4000  # enough for an event with normal steps before it

On = Annotated[
    str, typer.Option(help="Suite whose series are used: telemetry, tsb-ad-m or another.")
]
AsRun = Annotated[
    bool,
    typer.Option(
        "--as-run",
        help="Use settings and rules of the authors' script; predict keys, values and hidden state "
        "as well.",
    ),
]
Ours = Annotated[
    Path | None,
    typer.Option(help="With --as-run: folder of our findings, for the column 'ours'."),
]


def run_diagnostics(
    target: options.Out = None,
    data: options.Data = None,
    on: On = SUITE,
    as_run: AsRun = False,
    ours: Ours = None,
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
    own = AS_RUN if as_run else SUITE
    ledger = AsRunFindings if as_run else Findings
    if ours is not None and not as_run:
        raise InputError("--ours adds a column to the table of --as-run; leave it out")
    if show:
        folder = target or Path("results") / (_suite_name(own, on) + "-small" * small)
        found = _select(ledger(folder).read(), series=series, seeds=seeds, protocol=protocol)
    else:
        suite = _choose_suite(own, on, data=data, small=small)
        folder = target or Path("results") / suite.name
        jobs = suite.jobs(
            series=split_names(series), seeds=parse_seeds(seeds), protocols=[protocol]
        )
        found = _diagnose(jobs, ledger(folder), device=device, retry_failed=retry_failed)
    if as_run:
        beside = [] if ours is None else read_findings(ours)
        beside = _select(beside, series=series, seeds=None, protocol=protocol) if beside else []
        _write_as_run(found, beside, write or folder)
    else:
        _write(found, folder, write or folder)


def _select(
    found: list[Finding], *, series: list[str] | None, seeds: list[str] | None, protocol: str
) -> list[Finding]:
    """Return the findings that match every filter."""
    rows = select_rows([f.row for f in found], series=series, seeds=seeds, protocol=protocol)
    keys = {row.key for row in rows}
    return [finding for finding in found if finding.key in keys]


def _suite_name(own: str, on: str) -> str:
    return own if on == SUITE else f"{own}-{on}"


def _choose_suite(own: str, on: str, *, data: Path | None, small: bool) -> Suite:
    """Return the suite ``own`` of the diagnostics, with the series of the suite ``on``."""
    if small and (data is not None or on != SUITE):
        raise InputError("--small generates its series; leave out --data and --on")
    if small:  # of tiny networks, whatever the suite sets
        suite = replace(read_suite(SUITE, data=Path()), name=own)
        return replace(shrink_suite(suite), data={"source": "telemetry", "steps": SMALL_STEPS})
    if on == SUITE:
        return read_suite(own, data=data)
    base, other = read_suite(own, data=Path()), read_suite(on, data=data)
    has_split = any(ref.split == SPLIT for ref in sources.find(other.data, seeds=other.seeds))
    return replace(
        base,
        name=_suite_name(own, other.name),
        data={**other.data, "split": SPLIT} if has_split else other.data,
        protocols=other.protocols,
        seeds=other.seeds,
    )


def _diagnose(
    jobs: list[Job], ledger: Findings, *, device: str | None, retry_failed: bool
) -> list[Finding]:
    """Run the jobs that have no finding yet; return the findings of all jobs."""
    module = need("axonad.paper.diagnostics.diagnose", what=NEEDS)
    module.resolve_device(device or "auto")  # an unknown device would fail every job
    with ledger as findings:
        rows = latest(finding.row for finding in findings.rows)
        check_settings(jobs, rows)
        todo = pending(jobs, rows, retry_failed=retry_failed)
        with closing(module.diagnose_jobs(todo, findings, device=device)) as made:
            follow((finding.row for finding in made), jobs=jobs, pending=todo, known=rows)
        last = {finding.key: finding for finding in findings.rows}
    keys = {job.key for job in jobs}
    return [finding for key, finding in last.items() if key in keys]


def _write(found: list[Finding], folder: Path, target: Path) -> None:
    """Write tables and figures of findings to ``target``; ``folder`` has the samples to plot."""
    samples = need("axonad.paper.diagnostics.sample", what=NEEDS).samples_of(folder, found)
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


def _write_as_run(found: list[Finding], ours: list[Finding], target: Path) -> None:
    """Write tables and figure of the authors' rules; ``ours`` are findings of our settings."""
    write_results(
        target,
        tables={
            "as-run": lambda: as_run_table(found, ours),
            "probe": lambda: probe_table(found),
        },
        figures={"probe": lambda path: draw_probe(path, findings=found)},
    )
