"""Running a suite: what is still to do, on which engine, every row kept as it comes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from axonad.bench import local, on_ray
from axonad.bench.detection import read as read_detection
from axonad.bench.execute import Setting
from axonad.bench.job import Job, important
from axonad.bench.results import Results
from axonad.bench.row import Row, latest
from axonad.errors import ConfigError

ENGINES = ("local", "together", "ray")


def pending(
    jobs: Sequence[Job],
    rows: Sequence[Row],
    *,
    retry_failed: bool = False,
    rescore: Path | None = None,
) -> list[Job]:
    """Return the jobs that have no row yet.

    ``retry_failed`` adds those whose row is a failure. ``rescore`` asks for something else: the
    jobs whose scores were kept in that folder, to be judged again.
    """
    if rescore is not None:
        return [job for job in jobs if read_detection(rescore / job.fit_key) is not None]
    done = {row.key for row in latest(rows) if row.is_ok or not retry_failed}
    return [job for job in jobs if job.key not in done]


def check_settings(jobs: Sequence[Job], rows: Sequence[Row]) -> None:
    """Refuse a folder whose rows have the same names as the jobs but other settings."""
    made = {(r.label, r.protocol, r.series, r.seed): r for r in rows if r.params}
    for job in jobs:
        row = made.get((job.label, job.protocol.name, job.series.name, job.seed))
        if row is None or row.suite != job.suite:
            continue
        before, now = important(row.params), job.decisive()
        for name in now:
            if before.get(name) != now[name]:
                raise ConfigError(
                    f"the folder has rows of {job.label} ({job.protocol.name}) with "
                    f"{name}={before.get(name)!r}, now it is {now[name]!r}; give it another label "
                    "or choose another folder"
                )


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
    elif engine == "together":
        from axonad.bench import together  # with torch, which looking at rows does without

        rows = together.run(jobs, setting=setting, workers=workers)
    else:
        rows = local.run(jobs, setting=setting, workers=workers)
    good = {row.key for row in latest(results.rows) if row.is_ok}
    with closing(rows):
        for row in rows:
            if row.is_ok or row.key not in good:  # a failure never replaces a result
                results.append(row)
            yield row
