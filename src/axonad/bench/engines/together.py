"""The engine ``together``: AxonAD jobs are fitted jointly on one GPU, then evaluated by workers.

A GPU that fits one small network is mostly idle. This engine fits the pending AxonAD jobs with
``fit_many``, which trains detectors of the same shape as one batch, and saves their scores as
``--keep-scores`` does. Jobs that may share a batch are one group; the groups are fitted one after
another. The workers of the local engine find the scores of one group and evaluate them while the
next group is fitted, so a run that is cut off keeps the rows of the groups before. A job that
cannot be fitted here is left to its worker, which fits it alone or reports why it fails.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from axonad.axon import AxonAD
from axonad.bench import detection
from axonad.bench.detection import Detection
from axonad.bench.engines.local import Team
from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.row import Row
from axonad.bench.sources import LoadedSeries, load
from axonad.errors import AxonADError, ConfigError, FleetError
from axonad.joint_fit import batch_key, fit_many
from axonad.joint_scoring import score_tails

JOINTLY_FITTED = ("AxonAD", "AxonADVariant")
SERIES_AT_ONCE = 64  # held in memory together

Ready = tuple[Job, LoadedSeries, AxonAD]


def run_together(
    jobs: Iterable[Job], *, setting: Setting | None = None, workers: int | None = None
) -> Generator[Row]:
    """Fit AxonAD's jobs group by group; yield the rows of all jobs as they finish."""
    setting = setting or Setting()
    if setting.time_limit is not None or setting.memory_limit is not None:
        raise ConfigError(
            "the engine together fits many jobs at once and cannot limit one; "
            "leave the limits out or use the engine local"
        )
    jobs = list(jobs)
    added: set[str] = set()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(setting.scores or temporary)
        own = replace(setting, scores=str(folder))
        with Team(own, jobs=len(jobs), workers=workers) as team:
            for batch in _batches(job for job in jobs if job.detector in JOINTLY_FITTED):
                for group in _groups(batch, folder, device=setting.device):
                    for job, series, scored in _fit_group(group):
                        save = partial(_save, scored, folder / job.fit_key)
                        team.add(job, series=series, before=save)
                        added.add(job.key)
                    yield from team.ready()
            for job in jobs:
                if job.key not in added:
                    team.add(job)
            yield from team.rest()


def _groups(jobs: Sequence[Job], folder: Path, *, device: str | None) -> list[list[Ready]]:
    """Return the jobs that can be fitted here and have no scores yet, by what may be one batch."""
    groups: dict[tuple[object, ...], list[Ready]] = {}
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
                groups.setdefault(batch_key(detector), []).append((job, series, detector))
        except Exception:  # noqa: S112 - the worker raises it again and makes a row of it
            continue
    return list(groups.values())


def _fit_group(ready: Sequence[Ready]) -> Generator[tuple[Job, LoadedSeries, Detection]]:
    """Fit the detectors of jobs jointly; yield the scores of those that can be fitted and score."""
    failed, seconds = fit_jointly(ready)
    alike: dict[object, list[Ready]] = {}
    for index, one in enumerate(ready):
        if index not in failed:
            alike.setdefault(_same_weights(one), []).append(one)
    for same in alike.values():
        with suppress(AxonADError):  # the worker fits again and reports it
            for (job, series, _), scored in zip(same, _score(same, seconds), strict=True):
                yield job, series, scored


def _same_weights(ready: Ready) -> object:
    """Return a key that jobs share if they score the same rows and differ in the tail only."""
    job, series, detector = ready
    if type(detector) is not AxonAD:
        return job.key
    params = {name: value for name, value in job.params.items() if name != "tail"}
    where = job.series.name, job.trained_on, series.scored_from
    return where, repr(sorted(params.items()))


def _score(same: Sequence[Ready], fit_seconds: float) -> list[Detection]:
    """Return the scores of jobs with the same weights, computed in one pass over the series."""
    _, series, first = same[0]
    if len(same) == 1:
        return [detection.score(series, first, fit_seconds=fit_seconds)]
    started = time.perf_counter()
    detectors = [detector for _, _, detector in same]
    found = score_tails(detectors, series.values[series.scored_from :])
    times = fit_seconds, (time.perf_counter() - started) / len(same)
    return [
        detection.record(series, detector, scores, parts, times=times)
        for detector, (scores, parts) in zip(detectors, found, strict=True)
    ]


def _save(scored: Detection, folder: Path) -> None:
    with suppress(AxonADError, ValueError):  # the worker fits again and reports it
        detection.save(scored, folder)


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
