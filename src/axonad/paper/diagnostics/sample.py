"""What figures need of a series, small enough to keep: some windows, and one event from inside.

A line of JSON per series in a file that only grows, so that figures can be drawn on another machine
than the one that computed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad.axon import AxonAD
from axonad.bench.ledger import drop_torn_line
from axonad.bench.sources import Subject
from axonad.errors import InputError
from axonad.metrics.ranges import find_ranges
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.measure import holds_label
from axonad.paper.probe import Probe, query_path

FILE = "samples.jsonl"
KEPT = 500  # windows of each sort
AROUND = 80  # steps shown before and after an event
LONGEST = 300  # steps of an event shown
DIGITS = 4
HEAD = '{"key": "'  # how a line begins
NEEDED = {"key", "series", "dataset", "protocol", "thresholds", "normal", "anomalous"}

Array = NDArray[np.float64]
Sample = dict[str, Any]


def take_sample(
    detector: AxonAD, subject: Subject, scored: Probe, limits: Mapping[str, float]
) -> Sample:
    """Return windows drawn from normal and from anomalous ones, and the queries of one event."""
    labels = subject.labels[subject.scored_from :]
    held = holds_label(labels, detector.window)
    rng = np.random.default_rng(0)
    sample: Sample = {"thresholds": dict(limits)}
    for name, there in (("normal", ~held), ("anomalous", held)):
        places = np.flatnonzero(there)
        places = np.sort(rng.choice(places, size=min(KEPT, places.size), replace=False))
        sample[name] = {"d_rec": _plain(scored.d_rec[places]), "d_q": _plain(scored.d_q[places])}
        if subject.events and name == "anomalous":
            sample[name]["kind"] = _kinds(subject, places, detector.window)
    event = _most_surprising(labels, scored.d_q, detector.window)
    if event is not None:
        sample["event"] = _look_at(detector, subject, scored, event)
    return sample


def _kinds(subject: Subject, windows: NDArray[np.intp], length: int) -> list[str]:
    """Return the kind of the first planted event each window holds."""
    first = windows + subject.scored_from
    kinds = np.full(windows.size, "", dtype=object)
    for event in reversed(subject.events):
        kinds[(event.start < first + length) & (event.end > first)] = event.kind
    return [str(kind) for kind in kinds]


def _most_surprising(labels: NDArray[np.int8], d_q: Array, window: int) -> tuple[int, int] | None:
    """Return the event with the highest d_q, by windows that end in it; None if none can be shown.

    An event the first window already ends in has no before.
    """
    best: tuple[float, tuple[int, int]] | None = None
    for start, stop in zip(*find_ranges(labels > 0), strict=True):
        if start < window:
            continue
        peak = float(d_q[start - window + 1 : stop - window + 1].max())
        if best is None or peak > best[0]:
            best = peak, (int(start), int(stop))
    return None if best is None else best[1]


def _look_at(detector: AxonAD, subject: Subject, scored: Probe, event: tuple[int, int]) -> Sample:
    """Return the event's steps, both parts around it, and queries on their two main axes."""
    X = subject.values[subject.scored_from :]
    start, stop = event
    shown = min(stop, start + LONGEST)
    first, last = max(detector.window - 1, start - AROUND), min(len(X), shown + AROUND)
    path = query_path(detector, X, first, last)
    center = path.target.mean(0)
    spread, axes = np.linalg.svd(path.target - center, full_matrices=False)[1:]
    variance = spread**2
    kinds = {e.start - subject.scored_from: e.kind for e in subject.events}
    ends = slice(first - detector.window + 1, last - detector.window + 1)
    return {
        "start": start + subject.scored_from,
        "stop": stop + subject.scored_from,
        "first": first + subject.scored_from,
        "kind": kinds.get(start, ""),
        "predicted": _plain((path.predicted - center) @ axes[:2].T),
        "target": _plain((path.target - center) @ axes[:2].T),
        "explained": float(variance[:2].sum() / variance.sum()) if variance.any() else 0.0,
        "d_rec": _plain(scored.d_rec[ends]),
        "d_q": _plain(scored.d_q[ends]),
    }


def _plain(values: Array) -> Any:
    """Return numbers as JSON has them, to four significant digits."""
    if values.ndim > 1:
        return [_plain(row) for row in values]
    return [float(f"{value:.{DIGITS}g}") for value in values]


class Samples:
    """The samples in a folder: read at once, one of every series under a protocol."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._kept = read_samples(folder)

    def append(self, key: str, sample: Sample) -> None:
        """Keep the sample of a job, unless there is one of its series under its protocol."""
        about = sample["series"], sample["protocol"]
        if about in self._kept:
            return
        self._kept[about] = {"key": key, **sample}
        drop_torn_line(self._path)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(self._kept[about]) + "\n")


def read_samples(folder: Path) -> dict[tuple[str, str], Sample]:
    """Return the samples in a folder by series and protocol; a torn last line is left alone."""
    path = folder / FILE
    if not path.exists():
        return {}
    try:
        *lines, torn = path.read_text(encoding="utf-8").split("\n")
        found = [json.loads(line) for line in lines if line.strip()]
        if torn[: len(HEAD)] != HEAD[: len(torn)] or not all(one.keys() >= NEEDED for one in found):
            raise ValueError
        return {(one["series"], one["protocol"]): one for one in found}
    except (ValueError, TypeError, AttributeError):
        raise InputError(
            f"{path} is not what `axonad paper diagnostics` keeps for figures; move it away"
        ) from None


def samples_of(folder: Path, findings: Sequence[Finding]) -> dict[str, Sample]:
    """Return the samples kept of the findings' series, each under the key of one finding."""
    kept = read_samples(folder)
    found: dict[tuple[str, str], str] = {}
    for finding in findings:
        found.setdefault((finding.row.series, finding.row.protocol), finding.key)
    return {key: kept[about] for about, key in found.items() if about in kept}
