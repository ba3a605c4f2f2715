"""Run the jobs of a suite that have no row yet, and save every row as its job finishes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from axonad.bench import detection
from axonad.bench.engines.local import run_locally
from axonad.bench.engines.ray_cluster import run_on_ray
from axonad.bench.execute import Setting
from axonad.bench.job import Job, scoring_params
from axonad.bench.results import Results
from axonad.bench.row import Row, latest
from axonad.errors import ConfigError
from axonad.extras import need

ENGINES = ("local", "together", "ray")


def pending(
    jobs: Sequence[Job],
    rows: Sequence[Row],
    *,
    retry_failed: bool = False,
    rescore: Path | None = None,
) -> list[Job]:
    """Return the jobs without a row.

    ``retry_failed`` adds those whose row is a failure. With ``rescore``, a folder of saved scores,
    return every job that has scores there instead, to compute its metrics again.
    """
    if rescore is not None:
        return [job for job in jobs if detection.read(rescore / job.fit_key) is not None]
    done = {row.key for row in latest(rows) if row.is_ok or not retry_failed}
    return [job for job in jobs if job.key not in done]


def check_settings(jobs: Sequence[Job], rows: Sequence[Row]) -> None:
    """Refuse jobs whose label, protocol, series and seed have rows with other parameters."""
    made = {(r.label, r.protocol, r.series, r.seed): r for r in rows if r.params}
    for job in jobs:
        row = made.get((job.label, job.protocol.name, job.series.name, job.seed))
        if row is None or row.suite != job.suite:
            continue
        before = scoring_params(row.params)
        for name, value in scoring_params(job.params).items():
            if before.get(name) != value:
                raise ConfigError(
                    f"the folder has rows of {job.label} ({job.protocol.name}) with "
                    f"{name}={before.get(name)!r}, now it is {value!r}; give it another label "
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
    """Yield each job's row as the job finishes; a row is on disk before it is yielded."""
    if engine not in ENGINES:
        raise ConfigError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if engine == "ray":
        rows = run_on_ray(jobs, setting=setting, workers=workers, address=address)
    elif engine == "together":
        found = need("axonad.bench.engines.together", what="--engine together needs")
        rows = found.run_together(jobs, setting=setting, workers=workers)
    else:
        rows = run_locally(jobs, setting=setting, workers=workers)
    succeeded = {row.key for row in latest(results.rows) if row.is_ok}
    with closing(rows):
        for row in rows:
            if row.is_ok or row.key not in succeeded:  # a failure never replaces a result
                results.append(row)
            yield row
