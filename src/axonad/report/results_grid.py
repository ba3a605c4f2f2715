"""Benchmark rows as a grid: one value per detector and series, NaN where there is none.

Every statistic starts here. A *line* is one detector label under one protocol; lines are never
merged. The seeds of a series are averaged first, so that every series counts once. A failed run
leaves a gap (NaN), never a zero. The order of the rows does not matter, except that the last row
of a job replaces earlier ones.
"""

from __future__ import annotations

import dataclasses
import typing
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axonad.bench.row import METRIC_NAMES, PROTOCOLS, Row, latest
from axonad.errors import InputError, UnknownNameError, suggest
from axonad.metrics.registry import ALIASES

FloatArray = NDArray[np.float64]
NUMBER_FIELDS = tuple(
    f.name
    for f in dataclasses.fields(Row)
    if f.name != "seed" and {int, float} & set(typing.get_args(typing.get_type_hints(Row)[f.name]))
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """Values of shape (lines, series), NaN where a line has no value for a series.

    ``names`` are the lines, ``series`` and ``datasets`` describe the columns, ``failed`` counts the
    failed runs of each line, ``setting`` names suite, split, protocol and VUS window rule.
    """

    names: tuple[str, ...]
    series: tuple[str, ...]
    datasets: tuple[str, ...]
    values: FloatArray
    failed: tuple[int, ...]
    setting: str

    def of(self, name: str) -> FloatArray:
        """Return the values of one line."""
        row: FloatArray = self.values[self.names.index(find_name(name, self.names))]
        return row


def collect(rows: Iterable[Row], *, metric: str) -> Grid:
    """Return the grid of a metric, a score part (``"VUS-PR d_rec"``) or a numeric row field."""
    column = check_metric(metric)
    return collect_with(rows, value=lambda row: row.value(column))


def collect_with(rows: Iterable[Row], *, value: Callable[[Row], float | None]) -> Grid:
    """Return the grid of what ``value`` returns for each successful row; None leaves a gap."""
    kept = check_rows(rows)
    naming = line_names(kept)
    names = tuple(sorted(naming.values(), key=lambda name: (name.casefold(), name)))
    places = sorted({(row.dataset, row.series) for row in kept})
    sums = np.zeros((len(names), len(places)))
    counts = np.zeros_like(sums)
    failed = dict.fromkeys(names, 0)
    at_name = {name: i for i, name in enumerate(names)}
    at_place = {place: i for i, place in enumerate(places)}
    for row in kept:
        name = naming[row.label, row.protocol]
        failed[name] += not row.is_ok
        found = value(row) if row.is_ok else None
        if found is not None:
            index = at_name[name], at_place[row.dataset, row.series]
            sums[index] += found
            counts[index] += 1
    return Grid(
        names=names,
        series=tuple(series for _, series in places),
        datasets=tuple(dataset for dataset, _ in places),
        values=np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0),
        failed=tuple(failed.values()),
        setting=describe(kept),
    )


def check_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the last row of every job, sorted; raise if the rows must not be averaged."""
    kept = latest(rows)
    if not kept:
        raise InputError("there are no rows; run a benchmark first")
    suites = sorted({row.suite for row in kept})
    if len(suites) > 1:
        raise InputError(f"rows come from the suites {', '.join(suites)}; pass those of one suite")
    check_same_content(kept)
    rules: dict[str, set[str]] = defaultdict(set)
    jobs: set[tuple[str, str, str, str, int]] = set()
    for row in kept:
        job = row.label, row.protocol, row.dataset, row.series, row.seed
        if job in jobs:
            raise InputError(
                f"{row.label} ({row.protocol}) has two rows for {row.series} with seed {row.seed}; "
                "choose one VUS window (--window), or give different settings different labels"
            )
        jobs.add(job)
        if row.is_ok:
            rules[row.protocol].add(row.window_rule)
    for protocol, used in rules.items():
        if len(used) > 1:
            raise InputError(
                f"rows of protocol {protocol} mix the VUS windows {', '.join(sorted(used))}; "
                "choose one (--window)"
            )
    order = ("dataset", "series", "label", "protocol", "seed")
    return sorted(kept, key=lambda row: tuple(getattr(row, name) for name in order))


def check_same_content(rows: Iterable[Row]) -> None:
    """Raise if rows of one series were made from different data."""
    content: dict[tuple[str, str], str] = {}
    for row in rows:
        if not row.fingerprint:
            continue
        known = content.setdefault((row.dataset, row.series), row.fingerprint)
        if known != row.fingerprint:
            raise InputError(
                f"rows of {row.series} come from different data (fingerprints {known} and "
                f"{row.fingerprint}); run them again on the same data, in a new folder"
            )


def line_names(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    """Return the name of every (label, protocol): with the protocol if there are several."""
    lines = sorted({(row.label, row.protocol) for row in rows})
    several = len({protocol for _, protocol in lines}) > 1
    return {(a, b): f"{a} ({b})" if several else a for a, b in lines}


def describe(rows: Iterable[Row]) -> str:
    """Return what the rows have in common: ``"Suite x; split eval; protocol parity; ..."``."""
    rows = list(rows)
    parts = []
    for name in ("suite", "split", "protocol", "window_rule"):
        found = sorted({str(getattr(row, name)) for row in rows} - {""})
        what = "VUS window rule" if name == "window_rule" else name
        if found:
            parts.append(f"{what}{'s' if len(found) > 1 else ''} {', '.join(found)}")
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + "."


def find_name(name: str, names: Sequence[str]) -> str:
    """Return the line of that name; the bare label is enough if only one line has it."""
    if name in names:
        return name
    meant = [known for known in names if known in {f"{name} ({p})" for p in PROTOCOLS}]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise UnknownNameError(f"{name!r} stands for {' and '.join(meant)}; name one of them")
    raise UnknownNameError(
        f"detector {name!r} has no rows; there are {', '.join(names)}{suggest(name, names)}"
    )


def check_metric(metric: str) -> str:
    """Return the name of a numeric column, aliases resolved; raise if there is none."""
    column = ALIASES.get(metric, metric)
    known = (*METRIC_NAMES, *NUMBER_FIELDS)
    if column in known or column.startswith("VUS-PR "):
        return column
    raise UnknownNameError(
        f"metric {metric!r} is not one of {', '.join(METRIC_NAMES)}{suggest(column, known)}"
    )
