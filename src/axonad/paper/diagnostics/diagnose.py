"""Fit AxonAD jobs and measure their queries and score parts; on a GPU, many fits at once.

Labels are used only at the end, for metrics and regimes. Computing needs numpy, scipy and torch.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import cast

from axonad.axon import AxonAD
from axonad.bench import detection
from axonad.bench.engines.together import SERIES_AT_ONCE, Ready, fit_jointly
from axonad.bench.evaluation import error_row, evaluate_detection
from axonad.bench.job import Job
from axonad.bench.sources import LoadedSeries, load
from axonad.errors import ConfigError
from axonad.paper.diagnostics.finding import Finding, Findings, rounded
from axonad.paper.diagnostics.measure import (
    measure_inside,
    measure_quality,
    measure_regimes,
    thresholds,
)
from axonad.paper.diagnostics.rules import Parts
from axonad.paper.diagnostics.sample import Sample, Samples, draw_sample
from axonad.paper.probe import probe, probe_training, widest_entropy
from axonad.torch_runtime.device import resolve_device


def diagnose_jobs(
    jobs: Sequence[Job], findings: Findings, *, device: str | None = None
) -> Generator[Finding]:
    """Yield the finding of every job; it and its sample are on disk before it is yielded.

    A job that fails is a finding without measures, whose row gives the reason.
    """
    samples = Samples(findings.folder)
    for job in jobs:
        if job.detector != AxonAD.__name__:
            raise ConfigError(f"diagnostics need the detector AxonAD, got {job.detector}")
    at_once = SERIES_AT_ONCE if resolve_device(device or "auto").type == "cuda" else 1
    ordered = sorted(jobs, key=lambda job: (job.series.dataset, job.series.name, job.seed))
    for first in range(0, len(ordered), at_once):
        for finding, sample in _diagnose_batch(ordered[first : first + at_once], device):
            if sample is not None:
                samples.append(finding.key, sample)
            findings.append(finding)
            yield finding


def _diagnose_batch(
    jobs: Sequence[Job], device: str | None
) -> Generator[tuple[Finding, Sample | None]]:
    """Yield finding and sample of jobs whose detectors are fitted at once."""
    ready: list[Ready] = []
    for job in jobs:
        try:
            detector = cast("AxonAD", job.make_detector(device=device))  # its name was checked
            ready.append((job, job.divide(load(job.series)), detector))
        except Exception as error:  # any failure of a job is its finding
            yield _failed(job, error), None
    try:
        errors, seconds = fit_jointly(ready)
    except Exception as error:
        errors, seconds = dict.fromkeys(range(len(ready)), error), 0.0
    for index, (job, series, detector) in enumerate(ready):
        try:
            if index in errors:
                raise errors[index]
            result = diagnose(job, series, detector, fit_seconds=seconds)
        except Exception as error:
            yield _failed(job, error), None
        else:
            yield result


def diagnose(
    job: Job, series: LoadedSeries, detector: AxonAD, *, fit_seconds: float
) -> tuple[Finding, Sample]:
    """Return the finding of a fitted detector, and the sample that figures need."""
    scores = detection.score(series, detector, fit_seconds=fit_seconds)
    row = evaluate_detection(job, series, scores)
    X, labels = series.values[series.scored_from :], series.labels[series.scored_from :]
    scored = probe(detector, X)
    limits = thresholds(probe_training(detector, detection.training_rows(job, series)))
    window, align = detector.window, detector.align
    parts = Parts(scored.d_rec, scored.d_q, window, min(detector.tail, window), align)
    measures = {
        **measure_inside(scored, window=window, seed=job.seed),
        **measure_regimes(scored, labels, limits, window=window, align=align, seed=job.seed),
        **measure_quality(parts, labels, vus_window=int(row.vus_window or 0)),
        "entropy widest": widest_entropy(detector),
    }
    about = {name: getattr(row, name) for name in ("series", "dataset", "seed", "protocol")}
    sample = about | draw_sample(detector, series, scored, limits)
    return Finding(row=row, measures=rounded(measures)), sample


def _failed(job: Job, error: Exception) -> Finding:
    return Finding(row=error_row(job, error))
