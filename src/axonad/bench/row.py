"""A row: everything there is to say about one job, good or bad.

A row is self-describing: what ran on what, under which protocol, what came out, what it cost, and
which version of the code it was. A failure is a row with a status and a reason; its metrics are
missing, never zero. Tables and statistics are pure functions of rows.
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

PROTOCOLS = ("parity", "causal")
STATUSES = ("ok", "failed", "timeout", "memory")
METRIC_NAMES: tuple[str, ...] = tuple(SCORE_METRICS)
VOLATILE = ("fit_seconds", "score_seconds", "memory_mb", "device_memory_mb", "finished")
"""Fields that differ between two runs of the same job on the same machine."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one job gave. Numbers that do not exist are None.

    ``label`` is the detector's name in tables, ``params`` all of its parameters, ``split`` the
    list the series belongs to (``"eval"``, ``"tuning"``), ``trained_on`` the rows it learned
    from (``"prefix"`` or the whole ``"series"``), ``scaling`` and ``align`` what the detector
    was told of them (empty where it has no such choice), ``scored_from`` the first step that
    counts. ``metrics`` holds one value per metric that exists (without an alarm inside the series
    Affiliation-F1 does not), ``parts`` the VUS-PR of each named part of
    the score alone and of the score placed at the window's end, ``kinds`` for each kind of
    planted event what was found of it, ``alarms`` what the detector's own threshold gave.
    """

    key: str
    suite: str
    dataset: str
    series: str
    split: str = ""
    fingerprint: str = ""
    steps: int | None = None
    channels: int | None = None
    train_steps: int | None = None
    scored_from: int | None = None
    detector: str
    label: str
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int
    protocol: str
    trained_on: str
    scaling: str = ""
    align: str = ""
    window_rule: str = ""
    vus_window: int | None = None
    status: str
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)
    kinds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    alarms: Mapping[str, float] = field(default_factory=dict)
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
        """Return a metric, a part (``"VUS-PR d_rec"``) or a number field; None if missing."""
        if column in self.metrics:
            return self.metrics[column]
        if column.startswith("VUS-PR "):
            return self.parts.get(column.removeprefix("VUS-PR "))
        if column in METRIC_NAMES:
            return None
        found = getattr(self, column, None)
        return float(found) if isinstance(found, int | float) else None

    def to_record(self) -> dict[str, Any]:
        """Return a flat record: one column per field and metric, nested ones as JSON."""
        record: dict[str, Any] = {}
        for name in COLUMNS:
            if name in METRIC_NAMES:
                record[name] = self.metrics.get(name)
            elif name in _NESTED:
                value = getattr(self, name)
                record[name] = json.dumps(value, sort_keys=True) if value else ""
            else:
                record[name] = getattr(self, name)
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the row of a flat record, typed; refuse one that does not fit the schema."""
        unknown = [name for name in record if name not in COLUMNS]
        missing = [name for name in COLUMNS if name not in record]
        if unknown or missing:
            raise InputError(f"row has columns {unknown} too many and {missing} too few")
        values: dict[str, Any] = {}
        metrics: dict[str, float] = {}
        for name in COLUMNS:
            raw = record[name]
            if name in METRIC_NAMES:
                if raw not in (None, ""):
                    metrics[name] = _number(name, raw, float)
            else:
                values[name] = _typed(name, raw)
        return cls(**values, metrics=metrics)


_FIELDS = tuple(f.name for f in dataclasses.fields(Row))
_HINTS = typing.get_type_hints(Row)
_NESTED = ("params", "parts", "kinds", "alarms")
COLUMNS: tuple[str, ...] = tuple(
    column for name in _FIELDS for column in (METRIC_NAMES if name == "metrics" else (name,))
)
"""The columns of a table of rows, in order."""


def latest(rows: Iterable[Row]) -> list[Row]:
    """Return the last row of every job, in the order in which jobs first appeared."""
    return list({row.key: row for row in rows}.values())


def _check(row: Row) -> None:
    for name in ("key", "suite", "dataset", "series", "detector", "label", "version"):
        if not getattr(row, name):
            raise InputError(f"row needs a {name}, got {getattr(row, name)!r}")
    for name, allowed in (
        ("protocol", PROTOCOLS),
        ("status", STATUSES),
        ("trained_on", ("prefix", "series")),
    ):
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
    if name in _NESTED:
        return _mapping(name, raw)
    hint = _HINTS[name]
    kinds = typing.get_args(hint) or (hint,)
    if str in kinds:
        return "" if raw is None else str(raw)
    if raw in (None, ""):
        return None
    return _number(name, raw, int if int in kinds else float)


def _mapping(name: str, raw: Any) -> dict[str, Any]:
    try:
        found = json.loads(raw) if raw else {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"row's {name} must be a JSON object, got {raw!r}")
    return found


def _number(name: str, raw: Any, kind: type[float]) -> Any:
    try:
        return kind(raw)
    except (TypeError, ValueError):
        raise InputError(f"row's {name} must be a number, got {raw!r}") from None
