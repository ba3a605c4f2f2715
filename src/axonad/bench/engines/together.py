"""The engine ``together``: AxonAD jobs are fitted jointly on one GPU, then evaluated by workers.

A GPU that fits one small network is mostly idle. This engine first fits all pending AxonAD jobs
with ``fit_many``, which trains detectors of the same shape as one batch, and saves their scores as
``--keep-scores`` does. The workers of the local engine then find those scores. A job that cannot be
fitted here is left to its worker, which fits it alone or reports why it fails.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from axonad.axon import AxonAD
from axonad.bench import detection
from axonad.bench.engines.local import run_locally
from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.row import Row
from axonad.bench.sources import LoadedSeries, load
from axonad.errors import AxonADError, ConfigError, FleetError
from axonad.joint_fit import fit_many

JOINTLY_FITTED = ("AxonAD", "AxonADVariant")
SERIES_AT_ONCE = 64  # held in memory together

Ready = tuple[Job, LoadedSeries, AxonAD]


def run_together(
    jobs: Iterable[Job], *, setting: Setting | None = None, workers: int | None = None
) -> Generator[Row]:
    """Fit AxonAD's jobs jointly, then yield the rows of all jobs as the local engine does."""
    setting = setting or Setting()
    if setting.time_limit is not None or setting.memory_limit is not None:
        raise ConfigError(
            "the engine together fits many jobs at once and cannot limit one; "
            "leave the limits out or use the engine local"
        )
    jobs = list(jobs)
    with tempfile.TemporaryDirectory() as temporary:
        folder = setting.scores or temporary
        for batch in _batches(job for job in jobs if job.detector in JOINTLY_FITTED):
            save_joint_scores(batch, Path(folder), device=setting.device)
        yield from run_locally(jobs, setting=replace(setting, scores=folder), workers=workers)


def save_joint_scores(jobs: Sequence[Job], folder: Path, *, device: str | None) -> None:
    """Fit the detectors of jobs jointly and save their scores; skip jobs whose scores exist."""
    ready: list[Ready] = []
    loaded: dict[str, LoadedSeries] = {}
    for job in jobs:
        try:
            if job.series.name not in loaded:
                loaded[job.series.name] = load(job.series)
            series = job.divide(loaded[job.series.name])
            saved = detection.read(folder / job.fit_key)
            detector = job.make_detector(device=device)
            is_new = saved is None or saved.fingerprint != series.fingerprint
            if is_new and isinstance(detector, AxonAD) and _is_standard(detector):
                ready.append((job, series, detector))
        except Exception:  # noqa: S112 - the worker raises it again and makes a row of it
            continue
    failed, seconds = fit_jointly(ready)
    for index, (job, series, detector) in enumerate(ready):
        if index not in failed:
            scored = detection.score(series, detector, fit_seconds=seconds)
            try:
                detection.save(scored, folder / job.fit_key)
            except (AxonADError, ValueError):  # the worker fits again and reports it
                continue


def fit_jointly(ready: Sequence[Ready]) -> tuple[dict[int, Exception], float]:
    """Fit the detectors of jobs; return the errors by index, and the mean seconds per job."""
    if not ready:
        return {}, 0.0
    started = time.perf_counter()
    errors: dict[int, Exception] = {}
    try:
        fit_many(
            [detector for _, _, detector in ready],
            [detection.training_rows(job, series) for job, series, _ in ready],
        )
    except FleetError as error:
        errors = error.errors
    return errors, (time.perf_counter() - started) / len(ready)


def _is_standard(detector: AxonAD) -> bool:
    """Whether the detector's network is the paper's, the only one that is trained in a batch."""
    return detector.net_config(channels=1).is_standard


def _batches(jobs: Iterable[Job]) -> Generator[list[Job]]:
    """Yield the jobs of ``SERIES_AT_ONCE`` series at a time, ordered by data set.

    Series of one data set have the same number of channels, so their networks can be batched.
    """
    by_series: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        by_series.setdefault((job.series.dataset, job.series.name), []).append(job)
    ordered = [by_series[key] for key in sorted(by_series)]
    for first in range(0, len(ordered), SERIES_AT_ONCE):
        yield [job for group in ordered[first : first + SERIES_AT_ONCE] for job in group]
