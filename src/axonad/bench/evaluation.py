"""From scores to a row: every metric, the score's parts, the kinds of faults, the alarms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import __version__
from axonad.bench.detection import Detection
from axonad.bench.event_alarms import evaluate_events
from axonad.bench.job import Job
from axonad.bench.machine import commit
from axonad.bench.row import Row
from axonad.bench.sources import LoadedSeries
from axonad.data.windows import place
from axonad.errors import is_out_of_memory
from axonad.metrics import describe_alarms, evaluate

Labels = NDArray[np.int8]
DIGITS = 6
COPIED = (
    "fingerprint", "scaling", "align", "fit_seconds", "score_seconds", "memory_mb",
    "device_memory_mb", "device", "threads", "packages", "version", "commit",
)  # fmt: skip
"""Fields that a row takes over from the detection."""


def evaluate_detection(
    job: Job, series: LoadedSeries, detection: Detection, *, note: str = ""
) -> Row:
    """Return the row of a job whose detector gave these scores; ``note`` becomes its reason."""
    labels = series.labels[series.scored_from :]
    rule = job.protocol.window
    channel = series.values[:, 0] if isinstance(rule, str) else None
    result = evaluate(detection.scores, labels, window=rule, channel=channel)
    return Row(
        **(_identity(job) | {name: getattr(detection, name) for name in COPIED}),
        reason=note,
        steps=len(series.values),
        channels=series.values.shape[1],
        train_steps=series.train_steps,
        scored_from=series.scored_from,
        vus_window=result.window,
        status="ok",
        metrics={name: round(v, DIGITS) for name, v in result.items() if not math.isnan(v)},
        parts=_evaluate_parts(detection, labels, result.window),
        kinds=_evaluate_kinds(detection, series, result.window),
        alarms=_evaluate_alarms(detection, labels) | _evaluate_events(job, series, detection),
    )


def failed_row(job: Job, *, status: str, reason: str) -> Row:
    """Return the row of a job without scores: a status and a reason, no metrics."""
    return Row(
        **_identity(job), status=status, reason=" ".join(reason.split()) or "no reason given"
    )


def error_row(job: Job, error: Exception) -> Row:
    """Return the row of a job that raised an exception."""
    status = "memory" if is_out_of_memory(error) else "failed"
    return failed_row(job, status=status, reason=f"{type(error).__name__}: {error}")


def _identity(job: Job) -> dict[str, Any]:
    same = ("key", "suite", "detector", "label", "seed", "trained_on")
    return {name: getattr(job, name) for name in same} | {
        "dataset": job.series.dataset,
        "series": job.series.name,
        "split": job.series.split,
        "params": dict(job.params),
        "protocol": job.protocol.name,
        "window_rule": str(job.protocol.window),
        "version": __version__,
        "commit": commit(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _evaluate_parts(detection: Detection, labels: Labels, window: int) -> dict[str, float]:
    """Return the VUS-PR of each part alone.

    Centred scores are also evaluated as a live system would see them, each at the last step of its
    window (``"end"``), unless the detector scores the ends of windows in another way. A part that
    is the same at all steps, as one with the weight 0 is, has no rank and is left out.
    """
    parts = {name: part for name, part in detection.parts.items() if np.ptp(part) > 0}
    if detection.align == "center" and detection.end_is_shift:
        scores = detection.scores
        delay = place(detection.window, "end") - place(detection.window, "center")
        parts["end"] = np.concatenate([np.repeat(scores[:1], delay), scores[: len(scores) - delay]])
    return {
        name: round(evaluate(part, labels, window=window, metrics=["VUS-PR"])["VUS-PR"], DIGITS)
        for name, part in parts.items()
    }


def _evaluate_kinds(
    detection: Detection, series: LoadedSeries, window: int
) -> dict[str, Mapping[str, float]]:
    """Return for each kind of planted event how well it ranks and how many events raised an alarm.

    Each kind is compared with normal steps only: steps of all other kinds are left out, together
    with the steps around them whose windows still contain them (at least half a VUS window).
    """
    first = series.scored_from
    before, after = _reach(detection, window)
    kinds: dict[str, Mapping[str, float]] = {}
    for kind in sorted({event.kind for event in series.events}):
        labels = np.zeros(len(detection.scores), dtype=np.int8)
        other = np.zeros(len(detection.scores), dtype=bool)
        events = found = 0
        for event in series.events:
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
        metrics = {name: round(value, DIGITS) for name, value in result.items()}
        kinds[kind] = metrics | {"events": events, "found": found}
    return kinds


def _reach(detection: Detection, window: int) -> tuple[int, int]:
    """Return how many steps before and after an event still have it in their window."""
    length = detection.window - 1
    if detection.align == "center":
        before = after = place(detection.window, "center")
    else:
        before, after = (length, 0) if detection.align == "start" else (0, length)
    return max(window // 2, before), max(window // 2, after)


def _evaluate_alarms(detection: Detection, labels: Labels) -> dict[str, float]:
    """Return the alarms of the detector's own threshold, which was set without labels."""
    alarms = detection.scores > detection.threshold
    report = describe_alarms(alarms, labels)
    normal = np.asarray(labels) == 0
    found = {
        "threshold": detection.threshold,
        "share": round(float(alarms.mean()), DIGITS),
        "normal_share": round(float(alarms[normal].mean()), DIGITS) if normal.any() else None,
        "events": report.events,
        "found": report.found,
        "false_alarms": report.false_alarms,
        "median_delay": report.median_delay,
    }
    return {name: value for name, value in found.items() if value is not None}


def _evaluate_events(job: Job, series: LoadedSeries, detection: Detection) -> dict[str, float]:
    """Return the events after the training rows; none where everything was learned from."""
    first = max(series.train_steps, series.scored_from)
    labels = series.labels[first:]
    if detection.policy is None or job.trained_on == "series" or len(labels) == 0:
        return {}
    scores = detection.scores[first - series.scored_from :]
    return evaluate_events(scores, labels, detection.policy, threshold=detection.threshold)
