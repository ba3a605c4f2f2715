"""Running a suite: what is still to do, on which engine, every row kept as it comes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from axonad.bench import local, on_ray
from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.results import Results
from axonad.bench.row import Row, latest
from axonad.errors import ConfigError

ENGINES = ("local", "ray")


def pending(
    jobs: Sequence[Job],
    rows: Sequence[Row],
    *,
    retry_failed: bool = False,
    rescore: Path | None = None,
) -> list[Job]:
    """Return the jobs that have no row yet.

    ``retry_failed`` adds those whose row is a failure, ``rescore`` those whose scores were kept
    in that folder, to be judged again.
    """
    done = {row.key for row in latest(rows) if row.is_ok or not retry_failed}
    return [
        job
        for job in jobs
        if job.key not in done or (rescore is not None and (rescore / job.fit_key).is_dir())
    ]


def run_jobs(
    jobs: Sequence[Job],
    results: Results,
    *,
    engine: str = "local",
    setting: Setting | None = None,
    workers: int | None = None,
    address: str | None = None,
) -> Generator[Row]:
    """Yield each job's row as it finishes; it is on the disk before it is yielded."""
    if engine not in ENGINES:
        raise ConfigError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if engine == "ray":
        rows = on_ray.run(jobs, setting=setting, workers=workers, address=address)
    else:
        rows = local.run(jobs, setting=setting, workers=workers)
    with closing(rows):
        for row in rows:
            results.append(row)
            yield row
