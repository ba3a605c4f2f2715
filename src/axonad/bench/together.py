"""Jobs of AxonAD fitted many at a time on one graphics card, before the workers judge them.

A card that fits one small network is mostly idle. Here all jobs that are still to do are fitted
first, as many together as ``fit_many`` finds alike, and once where only their scores differ; those
are kept as ``--keep-scores`` keeps them, and the workers of the local engine find them there. What
cannot be fitted here is left to the workers, who fit it alone or say why it fails.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from axonad.axon import AxonAD
from axonad.bench import detection, local
from axonad.bench.execute import Setting
from axonad.bench.job import Job
from axonad.bench.row import Row
from axonad.bench.sources import Subject, load
from axonad.errors import AxonADError, ConfigError, FleetError
from axonad.joint_fit import fit_many

STACKED = ("AxonAD", "AxonADVariant")
AT_ONCE = 64  # series in memory together


def run(
    jobs: Iterable[Job], *, setting: Setting | None = None, workers: int | None = None
) -> Generator[Row]:
    """Yield the rows of jobs, as the local engine does, once AxonAD's are fitted."""
    setting = setting or Setting()
    if setting.time_limit is not None or setting.memory_limit is not None:
        raise ConfigError(
            "the engine together fits many jobs at once and cannot limit one; "
            "leave the limits out or use the engine local"
        )
    jobs = list(jobs)
    with tempfile.TemporaryDirectory() as own:
        folder = setting.scores or own
        for part in _parts(job for job in jobs if job.detector in STACKED):
            detect_together(part, Path(folder), device=setting.device)
        yield from local.run(jobs, setting=replace(setting, scores=folder), workers=workers)


def detect_together(jobs: Sequence[Job], folder: Path, *, device: str | None) -> None:
    """Fit the detectors of jobs at once and keep their scores in the folder."""
    ready: list[tuple[Job, Subject, AxonAD]] = []
    subjects: dict[str, Subject] = {}
    for job in jobs:
        try:
            subject = subjects.get(job.series.name) or load(job.series)
            subjects[job.series.name] = subject
            kept = detection.read(folder / job.fit_key)
            detector = detection.make(job, device=device)
            new = kept is None or kept.fingerprint != subject.fingerprint
            if new and isinstance(detector, AxonAD) and _is_standard(detector):
                ready.append((job, subject, detector))
        except Exception:  # noqa: S112 - the worker meets it again and makes a row of it
            continue
    if not ready:
        return
    started = time.perf_counter()
    failed: dict[int, Exception] = {}
    try:
        fit_many(
            [detector for _, _, detector in ready],
            [detection.training_part(job, subject) for job, subject, _ in ready],
        )
    except FleetError as error:
        failed = error.errors
    seconds = (time.perf_counter() - started) / len(ready)
    for place, (job, subject, detector) in enumerate(ready):
        if place not in failed:
            found = detection.score(job, subject, detector, fit_seconds=seconds)
            try:
                detection.save(found, folder / job.fit_key)
            except (AxonADError, ValueError):
                continue


def _is_standard(detector: AxonAD) -> bool:
    """Whether the network is the one stacks are made of; a variant's may be."""
    return detector.net_config(channels=1).is_standard


def _parts(jobs: Iterable[Job]) -> Generator[list[Job]]:
    """Yield the jobs of so many series at a time.

    Series of one data set have as many channels, so their networks fit into one stack.
    """
    of_series: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        of_series.setdefault((job.series.dataset, job.series.name), []).append(job)
    ordered = [of_series[key] for key in sorted(of_series)]
    for first in range(0, len(ordered), AT_ONCE):
        yield [job for group in ordered[first : first + AT_ONCE] for job in group]
