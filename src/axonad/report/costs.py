"""Tables of runtime, memory and failed runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from axonad.bench.row import Row
from axonad.report.quality import DETECTOR, MISSING, SERIES, note_gaps
from axonad.report.results_grid import (
    FloatArray,
    Grid,
    check_rows,
    collect,
    collect_with,
    describe,
    line_names,
)
from axonad.report.statistics import Summary, summarise_grid
from axonad.report.table import Column, Line, Table


class Runtime(NamedTuple):
    """Mean seconds per series to fit and to score, and milliseconds per scored step."""

    fit: Summary
    score: Summary
    milliseconds: float

    @property
    def total(self) -> float:
        """Mean seconds to fit and score; NaN without a successful run."""
        return self.fit.mean + self.score.mean


def runtimes(rows: Iterable[Row]) -> dict[str, Runtime]:
    """Return the runtime of every line by name, over successful runs."""
    kept = check_rows(rows)
    fit, score = collect(kept, metric="fit_seconds"), collect(kept, metric="score_seconds")
    per_step = _milliseconds(score, collect_with(kept, value=_scored))
    found = zip(summarise_grid(fit), summarise_grid(score), per_step.tolist(), strict=True)
    return {times[0].name: Runtime(*times) for times in found}


def _scored(row: Row) -> float | None:
    """Return the number of scored steps; of a generated stream only the second half is scored."""
    return None if row.steps is None else float(row.steps - (row.scored_from or 0))


def runtime_table(rows: Iterable[Row]) -> Table:
    """Return mean fit and score seconds, milliseconds per scored step and peak memory.

    Only successful runs count. The smallest sum of fit and score time comes first.
    """
    kept = check_rows(rows)
    found = runtimes(kept)
    total = {name: time.total for name, time in found.items()}
    ordered = sorted(total, key=lambda name: (math.isnan(total[name]), total[name], name))
    memory = {
        heading: peaks
        for heading, column in (("memory MB", "memory_mb"), ("device MB", "device_memory_mb"))
        if (peaks := _peaks(kept, column))
    }
    lines: list[Line] = [
        (
            name, found[name].fit.mean, found[name].score.mean, found[name].milliseconds,
            *(peaks.get(name) for peaks in memory.values()),
            found[name].fit.series, found[name].fit.missing,
        )
        for name in ordered
    ]  # fmt: skip
    return Table(
        title="Time and memory",
        columns=(
            DETECTOR,
            Column(heading="fit s", digits=2, best="min"),
            Column(heading="score s", digits=2, best="min"),
            Column(heading="ms per step", digits=4, best="min"),
            *(Column(heading=heading, digits=0) for heading in memory),
            SERIES,
            MISSING,
        ),
        rows=tuple(lines),
        notes=(describe(kept), *explain(kept), *note_gaps([time.fit for time in found.values()])),
    )


def failure_table(rows: Iterable[Row]) -> Table:
    """Return the failed runs and why they failed; a table without rows if there are none."""
    kept = check_rows(rows)
    naming = line_names(kept)
    failed = [
        (naming[r.label, r.protocol], r.dataset, r.series, r.seed, r.status, r.reason)
        for r in kept
        if not r.is_ok
    ]
    return Table(
        title="Runs that failed",
        columns=tuple(
            Column(heading=heading, style="count" if heading == "seed" else "text")
            for heading in ("detector", "data set", "series", "seed", "status", "reason")
        ),
        rows=tuple(sorted(failed)),
        notes=(describe(kept), f"{len(failed)} of {len(kept)} runs failed."),
    )


def _milliseconds(score: Grid, steps: Grid) -> FloatArray:
    """Return, per line, total scoring time over total steps scored."""
    both = ~np.isnan(score.values) & ~np.isnan(steps.values)
    spent = 1000 * np.where(both, score.values, 0).sum(axis=1)
    total = np.where(both, steps.values, 0).sum(axis=1)
    result: FloatArray = np.full_like(spent, np.nan)
    np.divide(spent, total, out=result, where=total > 0)
    return result


def _peaks(rows: Sequence[Row], column: str) -> dict[str, float]:
    naming = line_names(rows)
    found: dict[str, float] = {}
    for row in rows:
        value = row.value(column) if row.is_ok else None
        if value is not None:
            name = naming[row.label, row.protocol]
            found[name] = max(value, found.get(name, value))
    return found


def explain(rows: Sequence[Row]) -> list[str]:
    """Return notes on what the times mean and on which devices they were measured."""
    ran = {(row.device, row.threads) for row in rows if row.is_ok}
    places = sorted(f"{d or 'unknown device'} (threads: {n or 'unknown'})" for d, n in ran)
    notes = [
        "Means over series, peaks of memory; ms per step: all scoring time over all steps scored."
    ]
    if places:
        notes.append(f"Run on {'; '.join(dict.fromkeys(places))}.")
    if any(len(set(known) - {None, ""}) > 1 for known in zip(*ran, strict=True)):
        notes.append("Times of different devices or thread counts do not compare.")
    return notes
