"""The neutral form of a golden: scores, events and refusals, whatever way they came.

Rows are numbered from 0, ``end`` is exclusive, times are microseconds. An adapter (``ways.py``)
gives the fields it can know; only those are compared. Later versions change an adapter, never a
number here.

An event has ``category`` (anomaly, data, drift), ``number``, ``start``, ``end``, ``peak``,
``fired``, ``score``,
``severity``, ``channels``, ``reason`` (of bad data), ``drift`` (whether drift held), ``gathered``,
``changes`` (what happened to it at which row), ``begin_us`` and ``last_us`` (times of its first and
last row), ``fault``, ``sentence`` and ``leading`` (the channels of its
explanation). A refusal has ``kind``, ``row`` (None if it concerns the whole call) and ``sentence``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

TOLERANCE = 1e-4  # docs/exactness.md
NUMBER = re.compile(r"(?<![A-Za-z_])[-−+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
FIELDS = (
    "category", "number", "start", "end", "peak", "fired", "score", "severity", "channels",
    "reason", "drift", "gathered", "changes", "begin_us", "last_us", "fault", "sentence",
    "leading",
)  # fmt: skip


@dataclass
class Outcome:
    """What one way in makes of a pair; None for what it does not tell."""

    scores: np.ndarray | None = None
    events: list[dict[str, Any]] | None = None
    refused: list[dict[str, Any]] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    """Whatever else the way tells: counts of a report, metrics of a benchmark."""

    def take(self, other: Outcome) -> None:
        """Add the fields that another outcome, which agrees, tells and this one does not."""
        if self.scores is None:
            self.scores = other.scores
        if self.events is None:
            self.events = other.events
        elif other.events is not None:
            self.events = [two | one for one, two in zip(self.events, other.events, strict=True)]
        for one, two in zip(self.refused, other.refused, strict=True):
            one.update({name: value for name, value in two.items() if name not in one})


def compare(found: Outcome, expected: Outcome) -> list[str]:
    """Return how an outcome differs from the expected one, one sentence each; empty if equal."""
    return [
        *_compare_scores(found.scores, expected.scores),
        *_compare_events(found.events, expected.events),
        *_compare_refused(found.refused, expected.refused),
        *(
            f"{name}: {found.notes.get(name)!r} instead of {value!r}"
            for name, value in expected.notes.items()
            if not _alike(found.notes.get(name), value)
        ),
    ]


def _compare_scores(found, expected) -> list[str]:
    if found is None or expected is None:
        return []
    if len(found) != len(expected):
        return [f"score: {len(found)} rows instead of {len(expected)}"]
    known = np.isfinite(expected)
    differs = np.flatnonzero(np.isfinite(found) != known)
    if len(differs):
        return [f"score: {len(differs)} rows have one unexpectedly or lack it, first {differs[0]}"]
    error = np.abs(found[known] - expected[known]) / np.maximum(1.0, np.abs(expected[known]))
    if not len(error) or error.max() <= TOLERANCE:
        return []
    row = int(np.flatnonzero(known)[error.argmax()])
    return [
        f"score: {found[row]:.6g} instead of {expected[row]:.6g} at row {row}, "
        f"{error.max():.2g} off"
    ]


def _compare_events(found, expected) -> list[str]:
    if found is None or expected is None:
        return []
    if len(found) != len(expected):
        places = [
            [(e["category"], e["start"], e.get("end")) for e in events]
            for events in (found, expected)
        ]
        return [
            f"events: {len(found)} instead of {len(expected)}: {places[0]} instead of {places[1]}"
        ]
    differences = []
    for one, other in zip(found, expected, strict=True):
        for name in FIELDS:
            if name in one and name in other and not _alike(one[name], other[name]):
                where = f"{other['category']} event at row {other['start']}"
                differences.append(
                    f"{name}: {one[name]!r} instead of {other[name]!r} of the {where}"
                )
    return differences


def _compare_refused(found, expected) -> list[str]:
    if len(found) != len(expected):
        return [
            f"refusals: {len(found)} instead of {len(expected)}: {found[:2]} instead of "
            f"{expected[:2]}"
        ]
    return [
        f"refusal: {one} instead of {other}"
        for one, other in zip(found, expected, strict=True)
        if any(
            name in one and not _alike(one[name], other[name])
            for name in ("kind", "row", "sentence")
        )
    ]


def _alike(one: Any, other: Any) -> bool:
    """Return whether two values are the same: numbers, also in sentences, within the tolerance.

    A number in a sentence may be off by one in its last digit, where rounding may have turned it.
    """
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isnan(one) and np.isnan(other)) or abs(one - other) <= TOLERANCE * max(
            1.0, abs(other)
        )
    if isinstance(one, str) and isinstance(other, str):
        if NUMBER.sub("#", one) != NUMBER.sub("#", other):
            return False
        pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
        return all(a == b or abs(_value(a) - _value(b)) <= 1.01 * _last_digit(b) for a, b in pairs)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[k], other[k]) for k in one)
    return bool(one == other)


def _value(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def _last_digit(text: str) -> float:
    mantissa, _, power = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    return float(10.0 ** (int(power or 0) - digits))


# -- files -----------------------------------------------------------------------------------------


def to_document(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON values; its scores go to a file of their own."""
    events = None if outcome.events is None else [
        {name: _plain(event[name]) for name in FIELDS if name in event} for event in outcome.events
    ]  # fmt: skip
    return {"events": events, "refused": outcome.refused, "notes": outcome.notes}


def outcome_of(part: dict[str, Any], scores: np.ndarray | None, notes: dict[str, Any]) -> Outcome:
    """Return the outcome that :func:`to_document` made a document of."""
    return Outcome(scores, part["events"], part["refused"], notes)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if np.isnan(value) else float(f"{value:.7g}")
    return list(value) if isinstance(value, tuple) else value


def write(path: Path, documents: dict[str, dict[str, Any]], scores: dict[str, np.ndarray]) -> None:
    """Write the outcomes of a pair: JSON, and scores by group of ways as compressed arrays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(documents, indent=1, ensure_ascii=False)
    path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    if scores:
        rounded = {name: values.astype(np.float32) for name, values in scores.items()}
        np.savez_compressed(path.with_suffix(".npz"), **rounded)


def read(path: Path) -> tuple[dict[str, dict[str, Any]], dict[str, np.ndarray]]:
    """Return what :func:`write` wrote."""
    documents = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    arrays = path.with_suffix(".npz")
    if not arrays.exists():
        return documents, {}
    with np.load(arrays) as found:
        return documents, {name: found[name].astype(np.float64) for name in found}
