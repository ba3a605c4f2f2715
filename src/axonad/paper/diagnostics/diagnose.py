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
from axonad.paper.diagnostics.as_run import OWN, measure_as_run, measure_predictors
from axonad.paper.diagnostics.chosen_windows import choose_windows
from axonad.paper.diagnostics.finding import AsRunFinding, Finding, Findings, rounded
from axonad.paper.diagnostics.measure import (
    measure_inside,
    measure_quality,
    measure_regimes,
    thresholds,
)
from axonad.paper.diagnostics.rules import Parts
from axonad.paper.diagnostics.sample import Sample, Samples, draw_sample
from axonad.paper.probe import probe, probe_training, widest_entropy
from axonad.paper.probe_targets import probe_targets
from axonad.paper.probe_windows import probe_windows
from axonad.torch_runtime.device import resolve_device


def diagnose_jobs(
    jobs: Sequence[Job], findings: Findings, *, device: str | None = None
) -> Generator[Finding]:
    """Yield the finding of every job; it and its sample are on disk before it is yielded.

    A job that fails is a finding without measures, whose row gives the reason. The measures of the
    authors' script are added for findings that have them (``AsRunFindings``).
    """
    samples = Samples(findings.folder)
    for job in jobs:
        if job.detector != AxonAD.__name__:
            raise ConfigError(f"diagnostics need the detector AxonAD, got {job.detector}")
    at_once = SERIES_AT_ONCE if resolve_device(device or "auto").type == "cuda" else 1
    ordered = sorted(jobs, key=lambda job: (job.series.dataset, job.series.name, job.seed))
    for first in range(0, len(ordered), at_once):
        for finding, sample in _diagnose_batch(
            ordered[first : first + at_once], findings.entry, device
        ):
            if sample is not None:
                samples.append(finding.key, sample)
            findings.append(finding)
            yield finding


def _diagnose_batch(
    jobs: Sequence[Job], kind: type[Finding], device: str | None
) -> Generator[tuple[Finding, Sample | None]]:
    """Yield finding and sample of jobs whose detectors are fitted at once."""
    examine = diagnose_as_run if kind is AsRunFinding else diagnose
    ready: list[Ready] = []
    for job in jobs:
        try:
            detector = cast("AxonAD", job.make_detector(device=device))  # its name was checked
            ready.append((job, job.divide(load(job.series)), detector))
        except Exception as error:  # any failure of a job is its finding
            yield kind(row=error_row(job, error)), None
    try:
        errors, seconds = fit_jointly(ready)
    except Exception as error:
        errors, seconds = dict.fromkeys(range(len(ready)), error), 0.0
    for index, (job, series, detector) in enumerate(ready):
        try:
            if index in errors:
                raise errors[index]
            result = examine(job, series, detector, fit_seconds=seconds)
        except Exception as error:
            yield kind(row=error_row(job, error)), None
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


def diagnose_as_run(
    job: Job, series: LoadedSeries, detector: AxonAD, *, fit_seconds: float
) -> tuple[Finding, None]:
    """Return our finding of a fitted detector with the measures of the authors' script added.

    The script looks at the whole series, training part included. Its figures need no sample.
    """
    finding, _ = diagnose(job, series, detector, fit_seconds=fit_seconds)
    X = series.values
    chosen = choose_windows(
        series.labels, window=detector.window, train_steps=series.train_steps, seed=job.seed
    )
    learned = chosen.learned(job.seed)
    scored = probe_windows(detector, X, chosen.starts)
    errors = probe_targets(detector, X, chosen.starts, learned=learned, seed=job.seed)
    measures = {
        **measure_as_run(scored, chosen),
        **measure_predictors({OWN: scored.d_q, **errors}, chosen, learned),
    }
    measures = {**finding.measures, **rounded(measures)}
    return AsRunFinding(row=finding.row, measures=measures), None
