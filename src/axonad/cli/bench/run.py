"""``axonad bench run``: a suite's jobs, resumed where they stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.results import Results
from axonad.bench.row import Row, latest
from axonad.bench.runner import ENGINES, check_settings, pending, run_jobs
from axonad.bench.suite import Suite, read_suite
from axonad.cli.bench.live import LiveView
from axonad.cli.bench.options import (
    Address,
    Data,
    Detectors,
    Device,
    Engine,
    KeepScores,
    MemoryLimit,
    Out,
    RetryFailed,
    Seeds,
    SeriesParts,
    Split,
    TimeLimit,
    Workers,
    seed_numbers,
    words,
)
from axonad.cli.terminal import out
from axonad.config import check_choice

SCORES = "scores"


def run(
    suite: Annotated[str, typer.Argument(help="Name of a suite, its folder, or a suite.toml.")],
    target: Out = None,
    data: Data = None,
    detectors: Detectors = None,
    series: SeriesParts = None,
    split: Split = None,
    seeds: Seeds = None,
    protocols: Annotated[
        list[str] | None, typer.Option("--protocol", "-p", help="Only this protocol.")
    ] = None,
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = None,
    device: Device = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    keep_scores: KeepScores = False,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Judge kept scores again, without fitting.")
    ] = False,
    retry_failed: RetryFailed = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the jobs.")] = False,
) -> None:
    """Run a suite; what is done already is not done again."""
    check_choice("engine", engine, ENGINES)
    found = read_suite(suite, data=data)
    jobs = found.jobs(
        detectors=words(detectors, known={entrant.title for entrant in found.detectors}),
        series=words(series), protocols=words(protocols), split=split, seeds=seed_numbers(seeds),
    )  # fmt: skip
    if dry_run:
        _list(jobs)
        return
    folder = target or Path("results") / found.name
    run_suite(
        found, jobs, folder, engine=engine, address=address, workers=workers, device=device,
        time_limit=time_limit, memory_limit=memory_limit, keep_scores=keep_scores,
        rescore=rescore, retry_failed=retry_failed,
    )  # fmt: skip


def run_suite(
    suite: Suite,
    jobs: Sequence[Job],
    folder: Path,
    *,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    device: str | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    keep_scores: bool = False,
    rescore: bool = False,
    retry_failed: bool = False,
) -> list[Row]:
    """Run jobs of a suite, say how it went, and return their rows; exit where none is ok."""
    check_choice("engine", engine, ENGINES)
    if device is not None and engine != "ray":
        from axonad.torch_runtime.device import resolve_device

        resolve_device(device)  # a mistake here would fail every job
    kept = folder.absolute() / SCORES
    setting = Setting(
        device=device,
        scores=str(kept) if keep_scores or rescore or kept.is_dir() else None,
        time_limit=suite.time_limit if time_limit is None else time_limit,
        memory_limit=suite.memory_limit if memory_limit is None else memory_limit,
    )
    with Results(folder) as results:
        check_settings(jobs, results.rows)
        todo = pending(
            jobs, results.rows, retry_failed=retry_failed, rescore=kept if rescore else None
        )
        if rescore and len(todo) < len(jobs):
            missing = len(jobs) - len(todo)
            out().print(f"{missing} of {len(jobs)} jobs have no kept scores and stay as they are")
        rows = run_jobs(
            todo, results, engine=engine, setting=setting, workers=workers, address=address
        )
        settled = {job.key for job in jobs} - {job.key for job in todo}
        before = [row for row in _rows_of(jobs, results) if row.key in settled]
        _follow(rows, LiveView(total=len(todo), before=before))
        of_jobs = _rows_of(jobs, results)
    _summarise(of_jobs, folder)
    if of_jobs and not any(row.is_ok for row in of_jobs):
        raise typer.Exit(1)
    return of_jobs


def _follow(rows: Generator[Row], view: LiveView) -> None:
    """Show the run as it goes; an interrupt leaves what is done."""
    try:
        with view, closing(rows):
            for row in rows:
                view.show(row)
    except KeyboardInterrupt:
        out().print("what is done stays; the same command goes on where it stopped")
        raise


def _rows_of(jobs: Sequence[Job], results: Results) -> list[Row]:
    keys = {job.key for job in jobs}
    return [row for row in latest(results.rows) if row.key in keys]


def _list(jobs: Sequence[Job]) -> None:
    console = out()
    for job in jobs:
        console.print(
            f"{job.key}  {job.series.name}  {job.label}  {job.protocol.name}  seed {job.seed}  "
            f"trained on {job.trained_on}",
            markup=False,
        )
    console.print(f"{len(jobs)} jobs")


def _summarise(rows: Sequence[Row], folder: Path) -> None:
    console = out()
    failed = [row for row in rows if not row.is_ok]
    console.print(f"{len(rows) - len(failed)} of {len(rows)} jobs ok; rows in {folder}/rows.csv")
    for (label, reason), count in Counter((r.label, r.reason) for r in failed).most_common(5):
        console.print(f"  {count} x {label}: {reason[:200]}", style="yellow", markup=False)
    console.print(f"look at them: axonad bench table {folder}", markup=False)
