"""``axonad bench run``: run the jobs of a suite, or resume an interrupted run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.results import Results
from axonad.bench.row import Row, latest
from axonad.bench.runner import ENGINES, check_settings, pending, run_jobs
from axonad.bench.suite import Suite, read_suite
from axonad.cli.bench import options
from axonad.cli.bench.options import parse_seeds, split_names
from axonad.cli.bench.progress_display import follow
from axonad.cli.completion import suite_names
from axonad.cli.options import AsJson
from axonad.cli.several_files import PATTERN, expand
from axonad.cli.terminal import print_json, print_line, print_note
from axonad.config import check_choice
from axonad.data.readers import is_bag_folder
from axonad.errors import ConfigError
from axonad.extras import need

SCORES = "scores"


def run(
    suite: Annotated[
        str,
        typer.Argument(
            help="Name of a suite, its folder, or a suite.toml.", autocompletion=suite_names
        ),
    ],
    target: options.Out = None,
    data: options.OwnData = None,
    train: options.Train = None,
    detectors: options.Detectors = None,
    series: options.SeriesParts = None,
    split: options.Split = None,
    seeds: options.Seeds = None,
    protocols: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol", "-p", help="Only this protocol: parity, heldout, leaderboard or causal."
        ),
    ] = None,
    engine: options.Engine = "local",
    address: options.Address = None,
    workers: options.Workers = None,
    device: options.Device = None,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    keep_scores: options.KeepScores = False,
    rescore: Annotated[
        bool,
        typer.Option("--rescore", help="Compute the metrics of saved scores again; fit nothing."),
    ] = False,
    retry_failed: options.RetryFailed = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the jobs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the jobs of a suite that have no row yet."""
    check_choice("engine", engine, ENGINES)
    found = read_suite(suite, data=_data(data or [], train))
    jobs = found.jobs(
        detectors=split_names(detectors, known={one.title for one in found.detectors}),
        series=split_names(series), protocols=split_names(protocols), split=split,
        seeds=parse_seeds(seeds),
    )  # fmt: skip
    if dry_run:
        if as_json:
            print_json([_job_record(job) for job in jobs])
        else:
            _list(jobs)
        return
    run_suite(
        found, jobs, target or Path("results") / found.name, engine=engine, address=address,
        workers=workers, device=device, time_limit=time_limit, memory_limit=memory_limit,
        keep_scores=keep_scores, rescore=rescore, retry_failed=retry_failed, as_json=as_json,
    )  # fmt: skip


def _data(given: Sequence[Path], train: float | None) -> Path | dict[str, Any] | None:
    """Return where the series are: the suite's in a folder or a zip, or the user's own files."""
    one = given[0] if len(given) == 1 else None
    if not given or (one is not None and _is_collection(one)):
        if train is not None:
            raise ConfigError("--train is for your own files; name them with --data")
        return one
    files = [str(path) for path in expand(given)]
    return {"source": "recordings", "paths": files} | ({} if train is None else {"train": train})


def _is_collection(path: Path) -> bool:
    """Return whether a path names a folder or a zip of series, and not one file or a pattern."""
    if path.is_dir():
        return not is_bag_folder(path)
    return path.suffix.lower() in ("", ".zip") and not any(mark in str(path) for mark in PATTERN)


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
    as_json: bool = False,
) -> list[Row]:
    """Run jobs of a suite, print a summary and return their rows; exit with 1 if all failed."""
    check_choice("engine", engine, ENGINES)
    if device not in (None, "auto", "cpu") and engine != "ray":  # would fail every job if unknown
        found = need("axonad.torch_runtime.device", what=f"--device {device} needs")
        found.resolve_device(device)
    saved_scores = folder.absolute() / SCORES
    uses_scores = keep_scores or rescore or saved_scores.is_dir()
    setting = Setting(
        device=device,
        scores=str(saved_scores) if uses_scores else None,
        time_limit=suite.time_limit if time_limit is None else time_limit,
        memory_limit=suite.memory_limit if memory_limit is None else memory_limit,
    )
    with Results(folder) as results:
        check_settings(jobs, results.rows)
        todo = pending(
            jobs, results.rows, retry_failed=retry_failed, rescore=saved_scores if rescore else None
        )
        if rescore and len(todo) < len(jobs):
            missing = len(jobs) - len(todo)
            print_note(f"{missing} of {len(jobs)} jobs have no saved scores and are skipped")
        known = latest(results.rows)
        with closing(
            run_jobs(
                todo, results, engine=engine, setting=setting, workers=workers, address=address
            )
        ) as rows:
            follow(rows, jobs=jobs, pending=todo, known=known)
        keys = {job.key for job in jobs}
        of_jobs = [row for row in latest(results.rows) if row.key in keys]
    if as_json:
        print_json(_summary_record(of_jobs, folder))
    else:
        _summarise(of_jobs, folder)
    if of_jobs and not any(row.is_ok for row in of_jobs):
        raise typer.Exit(1)
    return of_jobs


def _job_record(job: Job) -> dict[str, Any]:
    return {
        "key": job.key, "series": job.series.name, "detector": job.label,
        "protocol": job.protocol.name, "seed": job.seed, "trained_on": job.trained_on,
    }  # fmt: skip


def _summary_record(rows: Sequence[Row], folder: Path) -> dict[str, Any]:
    failed = [row for row in rows if not row.is_ok]
    reasons = [
        {"key": r.key, "series": r.series, "detector": r.label, "status": r.status,
         "reason": r.reason}
        for r in failed
    ]  # fmt: skip
    ok = len(rows) - len(failed)
    return {"jobs": len(rows), "ok": ok, "failed": reasons, "rows": folder / "rows.csv"}


def _list(jobs: Sequence[Job]) -> None:
    for job in jobs:
        print_line(
            f"{job.key}  {job.series.name}  {job.label}  {job.protocol.name}  seed {job.seed}  "
            f"trained on {job.trained_on}"
        )
    print_line(f"{len(jobs)} jobs")


def _summarise(rows: Sequence[Row], folder: Path) -> None:
    failed = [row for row in rows if not row.is_ok]
    print_line(f"{len(rows) - len(failed)} of {len(rows)} jobs ok; rows in {folder}/rows.csv")
    for (label, reason), count in Counter((r.label, r.reason) for r in failed).most_common(5):
        print_line(f"  {count} x {label}: {reason[:200]}", style="yellow")
    print_line(f"for a table, run: axonad bench table {folder}")
