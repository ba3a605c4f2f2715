"""Select the rows and the metric a command reports."""

from __future__ import annotations

from collections.abc import Sequence

from axonad.bench.row import METRIC_NAMES, PROTOCOLS, Row
from axonad.cli.bench.options import parse_seeds, split_names
from axonad.config import check_choice
from axonad.errors import InputError, UnknownNameError, suggest
from axonad.metrics.registry import ALIASES


def select_rows(
    rows: Sequence[Row],
    *,
    detectors: list[str] | None = None,
    series: list[str] | None = None,
    seeds: list[str] | None = None,
    split: str | None = None,
    protocol: str | None = None,
    window: str | None = None,
) -> list[Row]:
    """Return the rows that match every option given; raise if none does."""
    if not rows:
        raise InputError("there are no rows yet; run the suite first")
    if protocol is not None:
        check_choice("protocol", protocol, PROTOCOLS)
    labels = {row.label for row in rows}
    wanted = split_names(detectors, known=labels)
    for name in wanted:
        if not any(name in (row.label, row.detector) for row in rows):
            known = ", ".join(sorted(labels))
            raise UnknownNameError(f"no rows of detector {name!r}; there are {known}")
    parts, numbers = split_names(series), parse_seeds(seeds)
    selected = [
        row
        for row in rows
        if (not wanted or row.label in wanted or row.detector in wanted)
        and (not parts or any(part in row.series for part in parts))
        and (not numbers or row.seed in numbers)
        and (split is None or row.split == split)
        and (protocol is None or row.protocol == protocol)
        and (window is None or row.window_rule == window)
    ]
    if not selected:
        given = {
            "--series": ",".join(parts),
            "--seeds": ",".join(map(str, numbers)),
            "--split": split,
            "--protocol": protocol,
            "--window": window,
        }
        options = " ".join(f"{name} {value}" for name, value in given.items() if value)
        raise InputError(f"none of {len(rows)} rows matches {options}")
    return selected


def check_metric(metric: str, rows: Sequence[Row]) -> str:
    """Return the column name of a metric; raise for a column that is not a metric."""
    parts = sorted({f"VUS-PR {part}" for row in rows for part in row.parts})
    known = (*METRIC_NAMES, *parts)
    name = ALIASES.get(metric, metric)
    if name not in known:
        close = {k.lower(): k for k in known}.get(metric.lower())
        hint = f"; did you mean {close!r}?" if close else suggest(metric, known)
        raise UnknownNameError(f"metric {metric!r} is not one of {', '.join(known)}{hint}")
    return name
