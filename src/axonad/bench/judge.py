"""From scores to a row: every metric, the parts, the kinds of faults, the alarms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import __version__
from axonad.bench.detection import Detection
from axonad.bench.job import Job
from axonad.bench.machine import commit
from axonad.bench.row import Row
from axonad.bench.sources import Subject
from axonad.data.windows import place
from axonad.metrics import describe_alarms, evaluate

Scores = NDArray[np.float64]
DIGITS = 6


def judge(job: Job, subject: Subject, detection: Detection, *, note: str = "") -> Row:
    """Return the row of a job whose detector gave these scores; ``note`` becomes its reason."""
    labels = subject.labels[subject.scored_from :]
    rule = job.protocol.window
    channel = subject.values[:, 0] if isinstance(rule, str) else None
    result = evaluate(detection.scores, labels, window=rule, channel=channel)
    return Row(
        **(_identity(job) | {"version": detection.version, "commit": detection.commit}),
        reason=note,
        fingerprint=detection.fingerprint,
        steps=len(subject.values),
        channels=subject.values.shape[1],
        train_steps=subject.train_steps,
        scored_from=subject.scored_from,
        scaling=detection.scaling,
        align=detection.align,
        vus_window=result.window,
        status="ok",
        metrics={name: round(v, DIGITS) for name, v in result.items() if not math.isnan(v)},
        parts=_judge_parts(detection, labels, result.window),
        kinds=_judge_kinds(detection, subject, result.window),
        alarms=_judge_alarms(detection, labels),
        fit_seconds=detection.fit_seconds,
        score_seconds=detection.score_seconds,
        memory_mb=detection.memory_mb,
        device_memory_mb=detection.device_memory_mb,
        device=detection.device,
        threads=detection.threads,
        packages=detection.packages,
    )


def failure(job: Job, *, status: str, reason: str) -> Row:
    """Return the row of a job that gave nothing: a status and a reason, no metrics."""
    return Row(
        **_identity(job), status=status, reason=" ".join(reason.split()) or "no reason given"
    )


def _identity(job: Job) -> dict[str, Any]:
    return {
        "key": job.key,
        "suite": job.suite,
        "dataset": job.series.dataset,
        "series": job.series.name,
        "split": job.series.split,
        "detector": job.detector,
        "label": job.label,
        "params": dict(job.params),
        "seed": job.seed,
        "protocol": job.protocol.name,
        "trained_on": job.trained_on,
        "window_rule": str(job.protocol.window),
        "version": __version__,
        "commit": commit(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _judge_parts(detection: Detection, labels: NDArray[np.int8], window: int) -> dict[str, float]:
    """Return the VUS-PR of each part alone and, for centred scores, of the score at the end."""
    parts = dict(detection.parts)
    if detection.align == "center":
        parts["end"] = _at_the_end(detection.scores, detection.window)
    return {name: _vus_pr(scores, labels, window) for name, scores in parts.items()}


def _at_the_end(scores: Scores, window: int) -> Scores:
    """Return centred scores as a live system sees them: each at its window's last step."""
    late = place(window, "end") - place(window, "center")
    return np.concatenate([np.repeat(scores[:1], late), scores[: len(scores) - late]])


def _judge_kinds(
    detection: Detection, subject: Subject, window: int
) -> dict[str, Mapping[str, float]]:
    """Return for each kind of planted event how it was ranked and how many were found.

    The steps of all other kinds are left out, and around them those where a window still sees them,
    half a VUS window at least: a kind is compared with normal steps only.
    """
    first = subject.scored_from
    before, after = _reach(detection, window)
    kinds: dict[str, Mapping[str, float]] = {}
    for kind in sorted({event.kind for event in subject.events}):
        labels = np.zeros(len(detection.scores), dtype=np.int8)
        other = np.zeros(len(detection.scores), dtype=bool)
        events = found = 0
        for event in subject.events:
            start, end = event.start - first, event.end - first
            if event.kind != kind:
                other[max(0, start - before) : end + after] = True
                continue
            labels[start:end] = 1
            events += 1
            found += bool((detection.scores[start:end] > detection.threshold).any())
        keep = ~other | (labels == 1)
        result = evaluate(
            detection.scores[keep], labels[keep], window=window, metrics=["VUS-PR", "AUC-PR"]
        )
        ranked = {name: round(value, DIGITS) for name, value in result.items()}
        kinds[kind] = ranked | {"events": events, "found": found}
    return kinds


def _reach(detection: Detection, window: int) -> tuple[int, int]:
    """Return how many steps before and after an event a score is still touched by it."""
    seen = detection.window - 1
    if detection.align == "center":
        before = after = place(detection.window, "center")
    elif detection.align == "start":
        before, after = seen, 0
    else:
        before, after = 0, seen
    return max(window // 2, before), max(window // 2, after)


def _judge_alarms(detection: Detection, labels: NDArray[np.int8]) -> dict[str, float]:
    """Return what the detector's own threshold, set without labels, would have raised."""
    alarms = detection.scores > detection.threshold
    report = describe_alarms(alarms, labels)
    return {
        "threshold": detection.threshold,
        "share": round(float(alarms.mean()), DIGITS),
        "events": report.events,
        "found": report.found,
        "false_alarms": report.false_alarms,
    }


def _vus_pr(scores: Scores, labels: NDArray[np.int8], window: int) -> float:
    result = evaluate(scores, labels, window=window, metrics=["VUS-PR"])
    return round(result["VUS-PR"], DIGITS)
