"""Jobs of AxonAD fitted many at a time on one graphics card, before the workers judge them.

A card that fits one small network is mostly idle. Here all jobs that are still to do are fitted
first, as many together as ``fit_many`` finds alike; their scores are kept as ``--keep-scores``
keeps them, and the workers of the local engine find them there. What cannot be fitted here is left
to the workers, who fit it alone or say why it fails.
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
from axonad.fleet import fit_many

STACKED = ("AxonAD", "AxonADVariant")
AT_ONCE = 64  # jobs whose series are in memory together


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
        alike = sorted((job for job in jobs if job.detector in STACKED), key=_dataset)
        for first in range(0, len(alike), AT_ONCE):
            detect_together(alike[first : first + AT_ONCE], Path(folder), device=setting.device)
        yield from local.run(jobs, setting=replace(setting, scores=folder), workers=workers)


def detect_together(jobs: Sequence[Job], folder: Path, *, device: str | None) -> None:
    """Fit the detectors of jobs at once and keep their scores in the folder."""
    ready: list[tuple[Job, Subject, AxonAD]] = []
    for job in jobs:
        try:
            subject = load(job.series)
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
    return detector._net_config(channels=1).is_standard


def _dataset(job: Job) -> str:
    """Series of one data set have as many channels, so their networks fit into one stack."""
    return job.series.dataset
