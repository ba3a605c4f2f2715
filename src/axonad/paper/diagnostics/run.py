"""Jobs of AxonAD, fitted and looked into: many fits at once on a graphics card.

Labels come in at the very end, to judge; what is computed here needs numpy and torch alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any

from axonad.axon import AxonAD
from axonad.bench import detection
from axonad.bench.job import Job
from axonad.bench.judge import failure, judge
from axonad.bench.sources import Subject, load
from axonad.bench.together import AT_ONCE
from axonad.errors import ConfigError, FleetError, is_out_of_memory
from axonad.joint_fit import fit_many
from axonad.paper.diagnostics.finding import Finding, Findings, rounded
from axonad.paper.diagnostics.measure import (
    measure_inside,
    measure_quality,
    measure_regimes,
    thresholds,
)
from axonad.paper.diagnostics.rules import Parts
from axonad.paper.diagnostics.sample import Sample, Samples, take_sample
from axonad.paper.probe import probe, probe_training, widest_entropy
from axonad.torch_runtime.device import resolve_device

Keep = Callable[[str, Sample], Any]
Ready = tuple[Job, Subject, AxonAD]


def diagnose(
    jobs: Sequence[Job], *, device: str | None = None, keep: Keep | None = None
) -> Generator[Finding]:
    """Yield the finding of every job as it is made; what fails is a row with its reason.

    ``keep`` is handed a sample for figures of every job.
    """
    for job in jobs:
        if job.detector != AxonAD.__name__:
            raise ConfigError(f"diagnostics look into AxonAD, got {job.detector}")
    at_once = AT_ONCE if resolve_device(device or "auto").type == "cuda" else 1
    ordered = sorted(jobs, key=lambda job: (job.series.dataset, job.series.name, job.seed))
    for first in range(0, len(ordered), at_once):
        for finding, sample in _diagnose_together(ordered[first : first + at_once], device):
            if keep is not None and sample is not None:
                keep(finding.key, sample)
            yield finding


def run_jobs(
    jobs: Sequence[Job], findings: Findings, *, device: str | None = None
) -> Generator[Finding]:
    """Yield the finding of every job; it is on the disk before it is yielded, as is its sample."""
    samples = Samples(findings.folder)
    with closing(diagnose(jobs, device=device, keep=samples.append)) as made:
        for finding in made:
            findings.append(finding)
            yield finding


def _diagnose_together(
    jobs: Sequence[Job], device: str | None
) -> Generator[tuple[Finding, Sample | None]]:
    ready: list[Ready] = []
    for job in jobs:
        try:
            ready.append((job, load(job.series), _make(job, device)))
        except Exception as error:  # any failure of a job is a result, with its reason
            yield _failed(job, error), None
    if not ready:
        return
    started = time.perf_counter()
    failed: dict[int, Exception] = {}
    try:
        fit_many([one for _, _, one in ready], [_learned_from(job, s) for job, s, _ in ready])
    except FleetError as error:
        failed = dict(error.errors)
    except Exception as error:
        failed = dict.fromkeys(range(len(ready)), error)
    seconds = (time.perf_counter() - started) / len(ready)
    for place, (job, subject, detector) in enumerate(ready):
        found: tuple[Finding, Sample | None]
        try:
            if place in failed:
                raise failed[place]
            found = look(job, subject, detector, fit_seconds=seconds)
        except Exception as error:
            found = _failed(job, error), None
        yield found


def look(
    job: Job, subject: Subject, detector: AxonAD, *, fit_seconds: float
) -> tuple[Finding, Sample]:
    """Return the finding of a fitted detector, and what figures need of it."""
    row = judge(job, subject, detection.score(job, subject, detector, fit_seconds=fit_seconds))
    X, labels = subject.values[subject.scored_from :], subject.labels[subject.scored_from :]
    scored = probe(detector, X)
    limits = thresholds(probe_training(detector, _learned_from(job, subject)))
    window, align = detector.window, detector.align
    parts = Parts(scored.d_rec, scored.d_q, window, min(detector.tail, window), align)
    measures = {
        **measure_inside(scored, window=window, seed=job.seed),
        **measure_regimes(scored, labels, limits, window=window, align=align, seed=job.seed),
        **measure_quality(parts, labels, vus_window=int(row.vus_window or 0)),
        "entropy widest": widest_entropy(detector),
    }
    sample = take_sample(detector, subject, scored, limits)
    about = {name: getattr(row, name) for name in ("series", "dataset", "seed", "protocol")}
    return Finding(row=row, measures=rounded(measures)), about | sample


def _make(job: Job, device: str | None) -> AxonAD:
    detector = detection.make(job, device=device)
    if not isinstance(detector, AxonAD):
        raise ConfigError(f"diagnostics look into AxonAD, got {job.detector}")
    return detector


def _learned_from(job: Job, subject: Subject) -> Any:
    return detection.training_part(job, subject)


def _failed(job: Job, error: Exception) -> Finding:
    status = "memory" if is_out_of_memory(error) else "failed"
    return Finding(row=failure(job, status=status, reason=f"{type(error).__name__}: {error}"))
