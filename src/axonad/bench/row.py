"""A row: everything about one finished job, whether it succeeded or failed.

A row is self-describing: detector, series, protocol, metrics, cost and version of the code. A
failure is a row with a status and a reason; its metrics are missing, never zero. Tables and
statistics are pure functions of rows.
"""

from __future__ import annotations

import dataclasses
import json
import math
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from axonad.errors import InputError
from axonad.metrics.registry import SCORE_METRICS

PROTOCOLS = ("parity", "heldout", "leaderboard", "causal")
STATUSES = ("ok", "failed", "timeout", "memory")
METRIC_NAMES: tuple[str, ...] = tuple(SCORE_METRICS)


@dataclass(frozen=True, kw_only=True)
class Row:
    """The result of one job; missing numbers are None, missing texts empty."""

    key: str
    suite: str
    dataset: str
    series: str
    split: str = ""  # TSB-AD's list that contains the series: "eval" or "tuning"
    fingerprint: str = ""
    steps: int | None = None
    channels: int | None = None
    train_steps: int | None = None
    scored_from: int | None = None  # the first step that metrics count
    detector: str
    label: str  # the detector's name in tables
    params: Mapping[str, Any] = field(default_factory=dict)  # all of them
    seed: int
    protocol: str
    trained_on: str  # the training "prefix" or the scored "series"
    scaling: str = ""  # the detector's parameter of that name, as is align
    align: str = ""
    window_rule: str = ""
    vus_window: int | None = None
    status: str
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)  # without those that are undefined
    parts: Mapping[str, float] = field(default_factory=dict)  # VUS-PR of each part of the score
    kinds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by kind of fault
    alarms: Mapping[str, float] = field(default_factory=dict)  # of the detector's own threshold
    fit_seconds: float | None = None
    score_seconds: float | None = None
    memory_mb: float | None = None
    device_memory_mb: float | None = None
    device: str = ""
    threads: int | None = None
    version: str
    commit: str = ""
    packages: str = ""
    finished: str = ""

    def __post_init__(self) -> None:
        _check(self)

    @property
    def is_ok(self) -> bool:
        """Whether the job gave scores and metrics."""
        return self.status == "ok"

    def value(self, column: str) -> float | None:
        """Return a metric, a part (``"VUS-PR d_rec"``) or a numeric field; None if missing."""
        if column in METRIC_NAMES:
            return self.metrics.get(column)
        if column.startswith("VUS-PR "):
            return self.parts.get(column.removeprefix("VUS-PR "))
        found = getattr(self, column, None)
        return float(found) if isinstance(found, int | float) else None

    def to_record(self) -> dict[str, Any]:
        """Return one flat value per column; mappings become JSON."""
        record: dict[str, Any] = {}
        for name in COLUMNS:
            value = self.metrics.get(name) if name in METRIC_NAMES else getattr(self, name)
            if name in _NESTED:
                value = json.dumps(value, sort_keys=True) if value else ""
            record[name] = value
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the row of a flat record, with types restored; refuse an invalid record.

        A record may lack columns that are not :data:`NEEDED`, as one of an earlier version does.
        """
        unknown = [name for name in record if name not in COLUMNS]
        missing = [name for name in NEEDED if name not in record]
        if unknown or missing:
            raise InputError(f"row has unknown columns {unknown} and lacks columns {missing}")
        values = {name: _typed(name, record[name]) for name in COLUMNS if name in record}
        metrics = {name: values.pop(name, None) for name in METRIC_NAMES}
        return cls(**values, metrics={k: v for k, v in metrics.items() if v is not None})


_HINTS = typing.get_type_hints(Row) | dict.fromkeys(METRIC_NAMES, float)
_NESTED = ("params", "parts", "kinds", "alarms")
COLUMNS: tuple[str, ...] = tuple(
    column
    for f in dataclasses.fields(Row)
    for column in (METRIC_NAMES if f.name == "metrics" else (f.name,))
)
"""The columns of a table of rows, in order."""
NEEDED: tuple[str, ...] = tuple(
    f.name
    for f in dataclasses.fields(Row)
    if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
)
"""The columns that every table of rows has; others came or may come with a later version."""


def latest(rows: Iterable[Row]) -> list[Row]:
    """Return the last row of every job, in the order in which jobs first appeared."""
    return list({row.key: row for row in rows}.values())


def _check(row: Row) -> None:
    for name in ("key", "suite", "dataset", "series", "detector", "label", "version"):
        if not getattr(row, name):
            raise InputError(f"row needs a {name}, got {getattr(row, name)!r}")
    choices = {"protocol": PROTOCOLS, "status": STATUSES, "trained_on": ("prefix", "series")}
    for name, allowed in choices.items():
        if getattr(row, name) not in allowed:
            raise InputError(f"row's {name} must be one of {allowed}, got {getattr(row, name)!r}")
    if row.is_ok:
        if "VUS-PR" not in row.metrics:
            raise InputError(f"row {row.key} is ok but has no VUS-PR")
        if row.fit_seconds is None or row.vus_window is None or not row.fingerprint:
            raise InputError(f"row {row.key} is ok but lacks its cost, window or fingerprint")
    elif row.metrics or not row.reason:
        raise InputError(f"row {row.key} is {row.status}: it needs a reason and no metrics")
    for name, value in row.metrics.items():
        if not (math.isfinite(value) and -1e-9 <= value <= 1 + 1e-9):
            raise InputError(f"row {row.key}: {name} must lie in [0, 1], got {value!r}")


def _typed(name: str, raw: Any) -> Any:
    """Return the value of a column from CSV text or from Parquet."""
    if name in _NESTED:
        return _mapping(name, raw)
    types = typing.get_args(_HINTS[name]) or (_HINTS[name],)
    if str in types:
        return "" if raw is None else str(raw)
    if raw in (None, ""):
        return None
    try:
        return int(raw) if int in types else float(raw)
    except (TypeError, ValueError):
        raise InputError(f"row's {name} must be a number, got {raw!r}") from None


def _mapping(name: str, raw: Any) -> dict[str, Any]:
    try:
        found = json.loads(raw) if raw else {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"row's {name} must be a JSON object, got {raw!r}")
    return found
