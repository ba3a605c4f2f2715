"""Samples for figures: some windows of every series and the queries around one event.

An append-only file with one line of JSON per series, so that figures can be drawn on a machine
without data or GPU.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import atomic
from axonad.axon import AxonAD
from axonad.bench.ledger import drop_incomplete_line
from axonad.bench.sources import LoadedSeries
from axonad.errors import InputError
from axonad.metrics.ranges import find_ranges
from axonad.paper.diagnostics.finding import Finding
from axonad.paper.diagnostics.measure import contains_label
from axonad.paper.probe import Probe, query_path

FILE = "samples.jsonl"
WINDOWS = 500  # sampled from the normal and from the anomalous ones
CONTEXT = 80  # steps shown before and after an event
MAX_STEPS = 300  # of an event shown
DIGITS = 4
HEAD = '{"key": "'  # how every line begins
NEEDED = {"key", "series", "dataset", "protocol", "thresholds", "normal", "anomalous"}

Array = NDArray[np.float64]
Sample = dict[str, Any]


def draw_sample(
    detector: AxonAD, series: LoadedSeries, scored: Probe, limits: Mapping[str, float]
) -> Sample:
    """Return a random sample of normal and of anomalous windows, and the queries of one event."""
    labels = series.labels[series.scored_from :]
    anomalous = contains_label(labels, detector.window)
    rng = np.random.default_rng(0)
    sample: Sample = {"thresholds": dict(limits)}
    for name, mask in (("normal", ~anomalous), ("anomalous", anomalous)):
        windows = np.flatnonzero(mask)
        windows = np.sort(rng.choice(windows, size=min(WINDOWS, windows.size), replace=False))
        sample[name] = {"d_rec": _plain(scored.d_rec[windows]), "d_q": _plain(scored.d_q[windows])}
        if series.events and name == "anomalous":
            sample[name]["kind"] = _kinds(series, windows, detector.window)
    event = _choose_event(labels, scored.d_q, detector.window)
    if event is not None:
        sample["event"] = _describe_event(detector, series, scored, event)
    return sample


def _kinds(series: LoadedSeries, windows: NDArray[np.intp], length: int) -> list[str]:
    """Return the kind of the first planted event in each window."""
    first = windows + series.scored_from
    kinds = np.full(windows.size, "", dtype=object)
    for event in reversed(series.events):
        kinds[(event.start < first + length) & (event.end > first)] = event.kind
    return [str(kind) for kind in kinds]


def _choose_event(labels: NDArray[np.int8], d_q: Array, window: int) -> tuple[int, int] | None:
    """Return the event with the highest d_q among windows that end in it; None if there is none.

    Events that begin within the first window are left out: nothing before them could be shown.
    """
    ranges = zip(*find_ranges(labels > 0), strict=True)
    events = [(int(start), int(stop)) for start, stop in ranges if start >= window]
    before = window - 1
    return max(events, key=lambda e: d_q[e[0] - before : e[1] - before].max(), default=None)


def _describe_event(
    detector: AxonAD, series: LoadedSeries, scored: Probe, event: tuple[int, int]
) -> Sample:
    """Return both parts around an event, and the queries projected on two principal axes."""
    X = series.values[series.scored_from :]
    start, stop = event
    shown = min(stop, start + MAX_STEPS)
    first, last = max(detector.window - 1, start - CONTEXT), min(len(X), shown + CONTEXT)
    path = query_path(detector, X, first, last)
    center = path.target.mean(0)
    deviations, axes = np.linalg.svd(path.target - center, full_matrices=False)[1:]
    variance = deviations**2
    kinds = {e.start - series.scored_from: e.kind for e in series.events}
    windows = slice(first - detector.window + 1, last - detector.window + 1)
    return {
        "start": start + series.scored_from,
        "stop": stop + series.scored_from,
        "first": first + series.scored_from,
        "kind": kinds.get(start, ""),
        "predicted": _plain((path.predicted - center) @ axes[:2].T),
        "target": _plain((path.target - center) @ axes[:2].T),
        "explained": float(variance[:2].sum() / variance.sum()) if variance.any() else 0.0,
        "d_rec": _plain(scored.d_rec[windows]),
        "d_q": _plain(scored.d_q[windows]),
    }


def _plain(values: Array) -> Any:
    """Return an array as lists of numbers with four significant digits."""
    if values.ndim > 1:
        return [_plain(row) for row in values]
    return [float(f"{value:.{DIGITS}g}") for value in values]


class Samples:
    """The samples of a folder: at most one per series and protocol."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._saved = read_samples(folder)

    def append(self, key: str, sample: Sample) -> None:
        """Save the sample of a job, unless its series already has one under its protocol."""
        about = sample["series"], sample["protocol"]
        if about in self._saved:
            return
        self._saved[about] = {"key": key, **sample}
        drop_incomplete_line(self._path)
        with atomic.writing(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(self._saved[about]) + "\n")


def read_samples(folder: Path) -> dict[tuple[str, str], Sample]:
    """Return the samples in a folder by series and protocol, without an incomplete last line."""
    path = folder / FILE
    if not path.exists():
        return {}
    try:
        *lines, rest = path.read_text(encoding="utf-8").split("\n")
        found = [json.loads(line) for line in lines if line.strip()]
        if rest[: len(HEAD)] != HEAD[: len(rest)] or not all(one.keys() >= NEEDED for one in found):
            raise ValueError
        return {(one["series"], one["protocol"]): one for one in found}
    except (ValueError, TypeError, AttributeError):
        raise InputError(
            f"{path} was not written by `axonad paper diagnostics`; move or delete it"
        ) from None


def samples_of(folder: Path, findings: Sequence[Finding]) -> dict[str, Sample]:
    """Return the samples of the findings' series, each under the key of its first finding."""
    saved = read_samples(folder)
    keys: dict[tuple[str, str], str] = {}
    for finding in findings:
        keys.setdefault((finding.row.series, finding.row.protocol), finding.key)
    return {key: saved[about] for about, key in keys.items() if about in saved}
